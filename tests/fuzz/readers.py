"""Area "reader": damaged files of every format; tables and maps are read."""

import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from scipy.sparse import issparse

from isosne.rows import MapWriter, open_rows, read_map
from isosne.rows.table_reader import read_table
from tests.fuzz.archives import change_archive, damage
from tests.unit.rows.formats import DENSE, SPARSE, TEXT

X = np.random.default_rng(0).normal(size=(30, 3))
LABELS = ["a", "=b", "ü"] * 10
FILES = ("npy", "fortran npy", "npz", "compressed npz", "parquet", "parquet folder", "feather")
TABLES = {
    **{name: DENSE[name] for name in (*FILES, "arrow", "zarr 3", "h5ad")},
    **{f"text {name}": make for name, make in TEXT.items()},
    **{f"sparse {name}": make for name, make in SPARSE.items() if "npz" in name},
}
MAPS = (".csv", ".parquet", ".feather", ".arrow")


@cache
def originals():
    """Return a valid file or folder of each format, by name."""
    home, made = Path(mkdtemp(prefix="isosne-fuzz-")), {}
    for k, (name, make) in enumerate(TABLES.items()):
        (home / str(k)).mkdir()
        made[name] = make(home / str(k), np.maximum(X, 0) if name.startswith("sparse") else X)
    for ending in MAPS:
        made[f"map{ending}"] = home / f"map{ending}"
        names = [f"p{i}" for i in range(len(X))]
        with MapWriter(made[f"map{ending}"], names, 2, {"seed": 0}, labels=LABELS) as writer:
            writer.write(X[:, :2])
    return made


def run_reader(case):
    """Damage a file and read it."""
    name = case.pick(*originals())
    source = originals()[name]
    path = case.path(source.name)
    if source.is_dir():
        shutil.copytree(source, path)
    else:
        for beside in source.parent.glob(f"{source.name}*"):  # a map has its record beside it
            shutil.copyfile(beside, case.path(beside.name))
    part = case.pick(*sorted(part for part in [path, *path.rglob("*")] if part.is_file()))
    content = part.read_bytes()
    case.note(f"{name}: {part.name}, {len(content)} bytes")
    if name == "h5ad":  # only cut: the HDF5 library itself can hang on other damage
        content = content[: int(case.rng.integers(len(content)))]
    elif part.suffix == ".npz":
        content = change_archive(case, content, ("bytes", "member", "array"))
    else:
        content = damage(case, content)
    part.write_bytes(content)
    try:
        if name.startswith("map") and case.happens(0.7):
            check_map(case, read_map(path))
        else:
            check_table(case, path)
    finally:
        case.promise(part.read_bytes() == content, "the file was changed")


def check_map(case, stored):
    """Hold the parts of a map to each other."""
    n_rows, n_axes = stored.embedding.shape
    case.promise(1 <= n_axes <= 3, f"a map of {n_axes} axes")
    case.promise_finite(stored.embedding, (n_rows, n_axes), "embedding")
    for part in (stored.ids, stored.labels):
        case.promise(part is None or len(part) == n_rows, "ids or labels of other points")


def check_table(case, path):
    """Read rows in all ways; they must agree."""
    choices = {"missing": "drop", "header": case.pick(True, False), "text_columns": "leave_out"}
    options = {name: value for name, value in choices.items() if case.happens(0.3)}
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
    if rows.shape[0] and not issparse(block):
        indices = case.rng.integers(0, rows.shape[0], 3)
        case.promise(np.array_equal(rows.take(indices), block[indices]), "take and read differ")
    rows.fingerprint()
