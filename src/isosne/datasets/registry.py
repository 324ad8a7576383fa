"""Load the paper's data sets by name: from the data folder, else from OpenML.

The shape of a set is held against the paper's. A known stand-in is loaded and says so in its
notes; any other difference is an error.
"""

from difflib import get_close_matches
from http.client import HTTPException
from pathlib import Path

from isosne.datasets.folder import DataSet, find_folder, read_manifest, read_set
from isosne.datasets.openml import fetch_set
from isosne.datasets.records import RECORDS, Record
from isosne.errors import DataError, ParameterError


def names() -> list[str]:
    """Return the names of the paper's 21 data sets, in the order of its table.

    Returns
    -------
    list of str
        Names that `load` and `record` take.
    """
    return list(RECORDS)


def record(name: str) -> Record:
    """Return what the paper prints of one of its sets, and where the set comes from.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    Record
        Sizes, printed results and origins.

    Examples
    --------
    >>> from isosne.datasets import record
    >>> record("wine").ch
    Scores(gaussian=625.0, isolation=853.0)
    """
    if name not in RECORDS:
        raise _unknown(name, names())
    return RECORDS[name]


def check_name(name: str, *, folder: str | Path | None = None) -> None:
    """Refuse a name that `load` does not know.

    Parameters
    ----------
    name : str
        What may be the name of a set.
    folder : path or None, default=None
        Data folder, as for `load`.
    """
    if name not in RECORDS:
        known = [*RECORDS, *read_manifest(find_folder(folder))]
        if name not in known:
            raise _unknown(name, known)


def load(name: str, *, folder: str | Path | None = None) -> DataSet:
    """Load a data set of the paper.

    Parameters
    ----------
    name : str
        One of `names`, or another set of the data folder.
    folder : path or None, default=None
        Data folder. None: the folder that the environment variable ISOSNE_DATA names, else
        ``~/.cache/isosne``. A set that is not there comes from OpenML and is kept in
        ``~/.cache/isosne``.

    Returns
    -------
    DataSet
        With ``X``, ``y``, ``classes``, ``notes`` and ``name``. X has raw values; a sparse set
        is CSR.

    Raises
    ------
    ParameterError
        If the name is unknown, or the folder does not exist.
    DataError
        If a file is damaged, the shape is not the paper's, or the set is out of reach.
    """
    place = find_folder(folder)
    if name not in RECORDS:
        return _load_other(name, place)
    wanted = RECORDS[name]
    for origin in _stored_names(wanted):
        found = read_set(place, origin)
        if found is not None:
            return _check_shape(wanted, found, origin)
    return _check_shape(wanted, _fetch(wanted, place), "openml")


def describe(*, folder: str | Path | None = None) -> str:
    """Return a table of the paper's sets and where each would be loaded from.

    Parameters
    ----------
    folder : path or None, default=None
        Data folder, as for `load`.

    Returns
    -------
    str
        A line for each set: name, points, attributes and classes in the paper, and origin. "by
        hand" is a set of which `load` says where to get it.
    """
    place = find_folder(folder)
    rows: list[tuple[str, ...]] = [("name", "points", "attributes", "classes", "from")]
    for wanted in RECORDS.values():
        rows.append((wanted.name, *map(str, wanted.sizes), _origin(wanted, place)))
    return "\n".join(f"{a:<14}  {b:>6}  {c:>10}  {d:>7}  {e}" for a, b, c, d, e in rows)


def _origin(wanted: Record, place: Path) -> str:
    for origin in _stored_names(wanted):
        for file in (f"{origin}.npz", f"{origin}.X.npz"):
            if (place / file).is_file():
                return f"folder: {file}"
    return f"OpenML {wanted.openml.data_id}" if wanted.openml else "by hand"


def _stored_names(wanted: Record) -> list[str]:
    """Return the names that the set's files may have: its own before those of stand-ins."""
    others = [stand_in.origin for stand_in in wanted.stand_ins]
    return [wanted.name, *(o for o in others if o not in (wanted.name, "openml"))]


def _load_other(name: str, place: Path) -> DataSet:
    """Return a set that only the folder knows; its manifest says what it should look like."""
    manifest = read_manifest(place)
    found = read_set(place, name) if name in manifest else None
    if found is None:
        raise _unknown(name, [*RECORDS, *manifest])
    expected = tuple(manifest[name].get(key) for key in ("n", "d"))
    if found.X.shape != expected:
        raise DataError(
            f"The set {name} must have {expected[0]} points and {expected[1]} attributes, as "
            f"the manifest of {place} says; got {found.X.shape[0]} and {found.X.shape[1]}. "
            "Copy its files again."
        )
    return found


def _unknown(name: object, known: list[str]) -> ParameterError:
    near = get_close_matches(str(name).lower(), known, n=1, cutoff=0.6)
    advice = f"Did you mean {near[0]!r}?" if near else "isosne.datasets.names() lists them."
    return ParameterError(
        f"name must be one of the paper's data sets or of the data folder's; got {name!r}. {advice}"
    )


def _fetch(wanted: Record, place: Path) -> DataSet:
    name = wanted.name
    if wanted.openml is None:
        raise DataError(
            f"The set {name} must be in the data folder: isosne knows no copy on OpenML; "
            f"{place} has no file {name}.npz. Get it from {wanted.source} and save it there with "
            f"np.savez_compressed({name + '.npz'!r}, X=X, y=y, classes=classes)."
        )
    try:
        return fetch_set(name, wanted.openml)
    except (OSError, ValueError, HTTPException) as error:
        raise DataError(
            f"The set {name} must be in the data folder or come from OpenML; {place} has no file "
            f"{name}.npz, and fetching OpenML {wanted.openml.data_id} failed with "
            f"{type(error).__name__}: {error}. Connect to the network, or set ISOSNE_DATA to a "
            "folder that holds the file."
        ) from error


def _check_shape(wanted: Record, found: DataSet, origin: str) -> DataSet:
    shape = (*found.X.shape, len(found.classes))
    if shape == wanted.sizes:
        notes = wanted.note
    else:
        known = [s.note for s in wanted.stand_ins if s.origin == origin and shape == s.sizes]
        if not known:
            where = "OpenML" if origin == "openml" else f"the files named {origin}"
            raise DataError(
                f"The set {wanted.name} must have {_words(wanted.sizes)}, as in the paper; "
                f"got {_words(shape)} from {where}. Get the set from {wanted.source}."
            )
        notes = known[0]
    return DataSet(wanted.name, found.X, found.y, found.classes, notes)


def _words(shape: tuple[int, ...]) -> str:
    return f"{shape[0]} points, {shape[1]} attributes and {shape[2]} classes"
