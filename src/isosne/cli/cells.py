"""Columns of an AnnData file that color a map: those of obs, and genes."""

from dataclasses import replace
from typing import Any

from isosne.cli.options import ResourceOptions, TableOptions
from isosne.cli.tables import find_rows, open_table

BLOCK_BYTES = 2**26
"""Bytes of expression values that are read together to take one gene: 64 MB (chosen)."""


def is_cells(source: str | None) -> bool:
    """Return whether a table or a map is an AnnData file."""
    from isosne.files.h5ad_maps import is_h5ad

    return source is not None and is_h5ad(source)


def file_of(source: str | None) -> str | None:
    """Return the path of a file without the array that may follow it, as in cells.h5ad:X_umap."""
    from isosne.files.h5ad_maps import split_key

    return None if source is None else str(split_key(source)[0])


def read_cell_columns(
    source: str, drawn: Any, options: TableOptions, resources: ResourceOptions, color: str | None
) -> dict[str, Any]:
    """Return the columns of obs for the points of a map, and a gene if it is the color.

    The gene is read from X, or from the layer that the options name.
    """
    import numpy as np

    from isosne.files.h5ad_maps import find_features, read_obs
    from isosne.sources.column_selection import check_column
    from isosne.sources.side_columns import as_integers_or_text, parse_integers

    used = replace(options.with_all_columns(), key=options.key or find_features(source))
    path = str(file_of(source))
    table = open_table(path, used, resources, quiet=True)
    chosen = find_rows(table, drawn)
    chosen = np.arange(table.rows.shape[0]) if chosen is None else chosen
    columns = {}
    for name, column in read_obs(path).items():
        values = np.asarray(column)
        is_number = values.dtype.kind in "uif"
        values = values if is_number else parse_integers(as_integers_or_text(values))
        columns[str(name)] = values[chosen]
    genes = table.names or ()
    if color is not None:
        check_column(color, [*columns, *genes], "color", path, what="a gene or a column of obs")
    if color is not None and color not in columns:
        columns[color] = read_feature(table.rows, genes.index(color), chosen)
    return columns


def read_feature(rows: Any, feature: int, chosen: Any) -> Any:
    """Return one column of some rows, dense, without holding the others in memory."""
    import numpy as np
    from scipy.sparse import issparse

    step = max(1, BLOCK_BYTES // rows.row_bytes)
    parts = []
    for start in range(0, len(chosen), step):
        block = rows.take(chosen[start : start + step], allow_missing=True)[:, [feature]]
        parts.append((block.toarray() if issparse(block) else block).ravel())
    return np.concatenate(parts)
