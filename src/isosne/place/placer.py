"""A function that places batches of rows, for engines that run a function on many processes."""

from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isosne._archive import reading_archive
from isosne._files import hash_file
from isosne.errors import DataError, ParameterError
from isosne.rows import is_stored, open_rows
from isosne.rows.columns import N_LISTED
from isosne.rows.formats import as_table, count_rows, names_of
from isosne.rows.rows import SourceFiles
from isosne.tsne.estimator import TSNE

N_MODELS = 4
"""Largest number of models that a process keeps in memory (chosen)."""
_one_at_a_time = Lock()  # threads of a process load a model once


class Placer:
    """Place batches of rows on the map of a model file, in any process.

    A placer is a function that can be pickled. It holds the path of the model file, not the model.
    Each process loads the model at the first batch, and keeps it.

    Parameters
    ----------
    path : path
        Model file, written by ``TSNE.save`` or ``isosne embed --save-model``. All processes must
        be able to read it under this path.
    n_jobs : int or None, default=None
        Number of threads per process. None uses all cores that are available. Pass 1 if the engine
        runs one process per core.

    Attributes
    ----------
    path : Path
        The absolute path of the model file.
    sha256 : str
        Hash of the model file. A process that finds another file under the path raises an error.

    Notes
    -----
    Each row is placed independently of the others, so the coordinates do not depend on how rows are
    divided into batches. They are bit-identical to those of ``TSNE.place`` for values of the same
    type.

    Examples
    --------
    >>> import pickle, tempfile, numpy as np
    >>> from isosne import TSNE, Placer
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     TSNE(random_state=0).fit(X).save(f"{folder}/model.isosne")
    ...     place = pickle.loads(pickle.dumps(Placer(f"{folder}/model.isosne")))
    ...     place({"a": X[:5, 0], "b": X[:5, 1], "c": X[:5, 2]}).shape
    (5, 2)
    """

    def __init__(self, path: str | Path, *, n_jobs: int | None = None) -> None:
        self.path, self.n_jobs = Path(path).absolute(), n_jobs
        with reading_archive(self.path, "model"):
            self.sha256 = hash_file(self.path)

    def __call__(self, batch: Any) -> NDArray[np.float32]:
        """Return the coordinates of a batch of rows.

        Parameters
        ----------
        batch : array, CSR, data frame, Arrow table, Arrow record batch, or dict of columns
            The rows, which may be none. If the model has column names, columns are found by their
            names, in any order, and other columns are ignored. Columns of an array are in the order
            of those at fit.

        Returns
        -------
        array of float32, shape (n_rows, n_components)
            Their coordinates, in order.
        """
        if is_stored(batch):
            raise ParameterError(
                "batch",
                "be rows in memory: an array, a data frame, an Arrow table or a dict of columns",
                batch,
                "For files and Dask collections, use TSNE.place or isosne.place_files.",
            )
        model, batch = self.load(), as_table(batch)
        if count_rows(batch) == 0:
            return np.empty((0, model.embedding_.shape[1]), np.float32)
        names, known = names_of(batch), getattr(model, "feature_names_in_", None)
        if names is None or known is None:
            return model.place(open_rows(batch))
        _check_present(known.tolist(), names)
        return model.place(open_rows(batch, columns=known.tolist()))

    def load(self) -> TSNE:
        """Return the model, which is loaded once per process."""
        with _one_at_a_time:
            return _load(self.path, self.sha256, self.n_jobs)

    def __repr__(self) -> str:
        threads = "" if self.n_jobs is None else f", n_jobs={self.n_jobs}"
        return f"Placer({str(self.path)!r}{threads})"


@lru_cache(maxsize=N_MODELS)
def _load(path: Path, sha256: str, n_jobs: int | None) -> TSNE:
    with reading_archive(path, "model"):
        files = SourceFiles(str(path), path)
        is_same = hash_file(path) == sha256
    if not is_same:
        raise DataError(
            f"The model {path} must be the file that the Placer was created with; its content has "
            "changed. Create the Placer again, or restore the file."
        )
    model = TSNE.load(path)
    model.set_params(n_jobs=n_jobs)
    files.check_unchanged()
    return model


def _check_present(known: list[str], names: list[Any]) -> None:
    """Raise an error unless the columns of the model are among the names of a batch."""
    missing = [name for name in known if name not in names]
    if missing:
        shown = ", ".join(map(repr, names[:N_LISTED])) + (", ..." if len(names) > N_LISTED else "")
        raise DataError(
            f"A batch must have all columns of the model; it has no {missing[0]!r}. "
            f"Its columns are {shown}. Rename them, or add the missing ones."
        )
