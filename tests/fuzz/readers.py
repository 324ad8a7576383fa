"""Area "reader": damaged files of every format; tables and maps are read."""

import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from scipy.sparse import issparse

from isosne.rows import MapWriter, open_rows, read_map
from isosne.rows.table_reader import read_table
from tests.fuzz.archives import change_archive
from tests.fuzz.case import Case
from tests.fuzz.mutation import damage
from tests.unit.rows.formats import DENSE, SPARSE, TEXT

X = np.random.default_rng(0).normal(size=(30, 3))
LABELS = ["a", "=b", "ü"] * 10
TABLES = {
    **{name: DENSE[name] for name in ("npy", "fortran npy", "npz", "compressed npz", "parquet")},
    **{name: DENSE[name] for name in ("parquet folder", "feather", "arrow", "zarr 2", "zarr 3")},
    **{f"text {name}": make for name, make in TEXT.items()},
    **{f"sparse {name}": make for name, make in SPARSE.items() if "npz" in name},
}
MAPS = (".csv", ".parquet", ".npz", ".feather", ".arrow")
CUT_ONLY = {"h5ad": DENSE["h5ad"], "sparse h5ad": SPARSE["h5ad"]}
"""Only the end is cut off: the HDF5 library itself can hang on other damage."""


@cache
def originals() -> dict[str, Path]:
    """Return a valid file or folder of each format, by name."""
    home = Path(mkdtemp(prefix="isosne-fuzz-"))
    made = {}
    for k, (name, make) in enumerate((TABLES | CUT_ONLY).items()):
        (home / str(k)).mkdir()
        made[name] = make(home / str(k), np.maximum(X, 0) if name.startswith("sparse") else X)
    for ending in MAPS:
        made[f"map{ending}"] = home / f"map{ending}"
        names = [f"p{i}" for i in range(len(X))]
        with MapWriter(made[f"map{ending}"], names, 2, {"seed": 0}, labels=LABELS) as writer:
            writer.write(X[:, :2])
    return made


def run(case: Case) -> None:
    """Damage a file and read it."""
    name = case.pick(*originals())
    path = copy_of(case, originals()[name])
    parts = sorted(part for part in [path, *path.rglob("*")] if part.is_file())
    part = parts[int(case.rng.integers(len(parts)))]
    content = part.read_bytes()
    case.note(f"{name}: {part.name}, {len(content)} bytes")
    if name in CUT_ONLY:
        part.write_bytes(content[: int(case.rng.integers(len(content)))])
    elif part.suffix == ".npz":
        part.write_bytes(change_archive(case, content, ("bytes", "member", "array")))
    else:
        part.write_bytes(damage(case, content))
    before = part.read_bytes()
    try:
        if name.startswith("map") and case.happens(0.7):
            check_map(case, path)
        else:
            check_table(case, path)
    finally:
        case.promise(part.read_bytes() == before, "the file was changed")


def copy_of(case: Case, original: Path) -> Path:
    """Return a copy of a file or folder, and of the record beside a map, in the case's folder."""
    target = case.path(original.name)
    if original.is_dir():
        shutil.copytree(original, target)
        return target
    for beside in original.parent.glob(f"{original.name}*"):
        shutil.copyfile(beside, case.path(beside.name))
    return target


def check_map(case: Case, path: Path) -> None:
    """Read a map; its parts must fit together."""
    found = read_map(path)
    n_rows, n_axes = found.embedding.shape
    case.promise(1 <= n_axes <= 3, f"a map of {n_axes} axes")
    case.promise_finite(found.embedding, (n_rows, n_axes), "embedding")
    case.promise(len(found.ids) == n_rows, f"{len(found.ids)} ids of {n_rows} points")
    has_labels = found.labels is not None
    case.promise(not has_labels or len(found.labels) == n_rows, "labels of other points")


def check_table(case: Case, path: Path) -> None:
    """Read rows in all ways; they must agree."""
    options = {}
    if case.happens(0.3):
        options["missing"] = case.pick("drop", "refuse")
    if case.happens(0.2):
        options["header"] = case.pick(True, False)
    if case.happens(0.3):
        options["text_columns"] = "leave_out"
    case.note(f"options: {options}")
    if case.happens(0.3):
        table = read_table(path, **options)
        rows = table.rows
        for part in (table.ids, table.labels):
            case.promise(part is None or len(part) == rows.shape[0], "ids or labels of other rows")
    else:
        rows = open_rows(path, **options)
    block = rows.read(slice(None))
    case.promise(block.shape == rows.shape, f"shape {block.shape} instead of {rows.shape}")
    values = block.data if issparse(block) else block
    case.promise_finite(values, values.shape, "the table")
    if rows.shape[0]:
        indices = case.rng.integers(0, rows.shape[0], 3)
        taken, same = rows.take(indices), block[indices]
        case.promise(taken.shape == same.shape, "take and read differ in shape")
        if not issparse(block):
            case.promise(np.array_equal(taken, same), "take and read differ")
    rows.fingerprint()
    for name, read in rows.side.items():
        case.promise(len(read()) == rows.shape[0], f"column {name} has another length")
