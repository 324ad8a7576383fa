"""Load the paper's data sets by name: from the data folder, from scikit-learn or from OpenML.

The shape of a data set is compared with the paper. A known stand-in is loaded with a note; any
other difference is an error.
"""

from http.client import HTTPException
from pathlib import Path

from isosne.datasets.examples import EXAMPLES, PAPER_NAMES, read_example
from isosne.datasets.folder import DataSet, find_folder, read_manifest, read_set
from isosne.datasets.openml import fetch_set
from isosne.datasets.records import RECORDS, Record
from isosne.errors import DataError, ParameterError, suggest

ANYWHERE = "the paper, of scikit-learn or of the data folder"


def names() -> list[str]:
    """Return the names of the paper's 21 data sets, in the order of its table of results.

    Returns
    -------
    list of str
        Names for `load` and `record`.

    Examples
    --------
    >>> from isosne.datasets import names
    >>> names()[:3]
    ['wine', 'dermatology', 'forest_type']
    """
    return list(RECORDS)


def record(name: str) -> Record:
    """Return the paper's results on a data set, and where to get the data.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    Record
        Sizes, printed results and origins.

    Raises
    ------
    ParameterError
        If the name is unknown.

    Examples
    --------
    >>> from isosne.datasets import record
    >>> record("wine").ch
    Scores(gaussian=625.0, isolation=853.0)
    """
    if name not in RECORDS:
        raise _unknown(name, names(), "the paper")
    return RECORDS[name]


def check_name(name: str, *, folder: str | Path | None = None) -> None:
    """Raise an error if `load` does not know a name.

    Parameters
    ----------
    name : str
        Name of a data set.
    folder : path or None, default=None
        Data folder, as for `load`.
    """
    if name not in RECORDS:
        known = [*RECORDS, *EXAMPLES, *read_manifest(find_folder(folder))]
        if name not in known:
            raise _unknown(name, known, ANYWHERE)


def load(name: str, *, folder: str | Path | None = None) -> DataSet:
    """Load a data set of the paper, or an example of scikit-learn.

    Parameters
    ----------
    name : str
        One of `names`, another data set in the data folder, or "breast_cancer", "digits" or "iris".
    folder : path or None, default=None
        Data folder. None uses the environment variable ISOSNE_DATA, or ``~/.cache/isosne`` if it
        is not set. A data set that is not in the folder is taken from scikit-learn if it has it;
        otherwise it is downloaded from OpenML and kept in ``~/.cache/isosne``.

    Returns
    -------
    DataSet
        A data set with ``X``, ``y``, ``classes``, ``notes`` and ``name``. X is not scaled; sparse
        data are CSR.

    Raises
    ------
    ParameterError
        If the name is unknown, or the folder does not exist.
    DataError
        If a file is damaged, the shape differs from the paper, or the data cannot be downloaded.

    Examples
    --------
    >>> from isosne.datasets import load
    >>> load("wine")
    <wine: 178 points, 13 attributes, 3 classes>
    """
    found_folder = find_folder(folder)
    if name not in RECORDS:
        return _load_other(name, found_folder)
    entry = RECORDS[name]
    for origin in _stored_names(entry):
        found = read_set(found_folder, origin)
        if found is not None:
            return _check_shape(entry, found, origin)
    example = read_example(name)
    if example is not None:
        return example
    return _check_shape(entry, _fetch(entry, found_folder), "openml")


def describe(*, folder: str | Path | None = None) -> str:
    """Return a table of the paper's data sets and their origins.

    Parameters
    ----------
    folder : path or None, default=None
        Data folder, as for `load`.

    Returns
    -------
    str
        A line per data set: name, numbers of points, attributes and classes in the paper, and
        where `load` would get it from. "by hand" means that it must be downloaded manually; the
        error of `load` says where.

    Examples
    --------
    >>> from isosne.datasets import describe
    >>> describe().splitlines()[0].split()
    ['name', 'points', 'attributes', 'classes', 'from']
    """
    found_folder = find_folder(folder)
    rows: list[tuple[str, ...]] = [("name", "points", "attributes", "classes", "from")]
    for entry in RECORDS.values():
        rows.append((entry.name, *map(str, entry.sizes), _find_origin(entry, found_folder)))
    return "\n".join(f"{a:<14}  {b:>6}  {c:>10}  {d:>7}  {e}" for a, b, c, d, e in rows)


def _find_origin(entry: Record, folder: Path) -> str:
    for origin in _stored_names(entry):
        for file in (f"{origin}.npz", f"{origin}.X.npz"):
            if (folder / file).is_file():
                return f"folder: {file}"
    if entry.name in PAPER_NAMES:
        return "scikit-learn"
    return f"OpenML {entry.openml.data_id}" if entry.openml else "by hand"


def _stored_names(entry: Record) -> list[str]:
    """Return the names that the files may have: that of the data set, then those of stand-ins."""
    others = [stand_in.origin for stand_in in entry.stand_ins]
    return [entry.name, *(o for o in others if o not in (entry.name, "openml"))]


def _load_other(name: str, folder: Path) -> DataSet:
    """Return a data set that is not in the paper; the manifest of the folder has its shape."""
    manifest = read_manifest(folder)
    found = read_set(folder, name) if name in manifest else None
    if found is None:
        example = read_example(name)
        if example is None:
            raise _unknown(name, [*RECORDS, *EXAMPLES, *manifest], ANYWHERE)
        return example
    expected = tuple(manifest[name].get(key) for key in ("n", "d"))
    if found.X.shape != expected:
        raise DataError(
            f"The data set {name} must have {expected[0]} points and {expected[1]} attributes "
            f"according to the manifest of {folder}; got {found.X.shape[0]} and "
            f"{found.X.shape[1]}. Copy its files again."
        )
    return found


def _unknown(name: object, known: list[str], where: str) -> ParameterError:
    hint = "List the names with isosne.datasets.names() or the command isosne datasets."
    return ParameterError("name", f"be a data set of {where}", name, suggest(name, known, hint))


def _fetch(entry: Record, folder: Path) -> DataSet:
    name = entry.name
    if entry.openml is None:
        raise DataError(
            f"The data set {name} must be in the data folder, as OpenML does not have it; "
            f"{folder} has no file {name}.npz. Get it from {entry.source} and save it there with "
            f"np.savez_compressed({name + '.npz'!r}, X=X, y=y, classes=classes)."
        )
    try:
        return fetch_set(name, entry.openml)
    except (OSError, ValueError, HTTPException) as error:
        raise DataError(
            f"The data set {name} must be in the data folder or come from OpenML; {folder} has no "
            f"file {name}.npz, and downloading OpenML {entry.openml.data_id} failed with "
            f"{type(error).__name__}: {error}. Connect to the network, or set ISOSNE_DATA to a "
            "folder that has the file."
        ) from error


def _check_shape(entry: Record, found: DataSet, origin: str) -> DataSet:
    shape = (*found.X.shape, len(found.classes))
    if shape == entry.sizes:
        notes = entry.note
    else:
        known = [s.note for s in entry.stand_ins if s.origin == origin and shape == s.sizes]
        if not known:
            where = "OpenML" if origin == "openml" else f"the files named {origin}"
            raise DataError(
                f"The data set {entry.name} must have {_describe_shape(entry.sizes)}, as in the "
                f"paper; got {_describe_shape(shape)} from {where}. "
                f"Get the data set from {entry.source}."
            )
        notes = known[0]
    return DataSet(entry.name, found.X, found.y, found.classes, notes)


def _describe_shape(shape: tuple[int, ...]) -> str:
    return f"{shape[0]} points, {shape[1]} attributes and {shape[2]} classes"
