"""Rows of a table as the bytes of a CSV or Parquet file, for downloads."""

import csv
import io
from collections.abc import Mapping

import numpy as np

from isosne._extras import require
from isosne._types import Array
from isosne.files.formula_cells import mark_formulas


def encode_csv(columns: Mapping[str, Array]) -> bytes:
    r"""Return columns as CSV in UTF-8; texts that a spreadsheet takes for formulas are marked.

    Examples
    --------
    >>> import numpy as np
    >>> from isosne.files.row_table import encode_csv
    >>> encode_csv({"id": np.array(["a", "=b"]), "x": np.array([1.5, 2.0])})
    b"id,x\r\na,1.5\r\n'=b,2.0\r\n"
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(mark_formulas(np.array(list(columns), dtype=np.str_)).tolist())
    marked = [_without_nan(mark_formulas(np.asarray(values))) for values in columns.values()]
    writer.writerows(zip(*marked, strict=True))
    return text.getvalue().encode()


def encode_parquet(columns: Mapping[str, Array]) -> bytes:
    """Return columns as a Parquet file; missing numbers are null."""
    pyarrow = require("pyarrow", "files", "Writing Parquet files")
    parquet = require("pyarrow.parquet", "files", "Writing Parquet files")
    arrays = {name: pyarrow.array(v, from_pandas=True) for name, v in columns.items()}
    content = io.BytesIO()
    parquet.write_table(pyarrow.table(arrays), content)
    return content.getvalue()


def _without_nan(values: Array) -> list[object]:
    """Return values as a list in which missing numbers are empty texts."""
    return ["" if value != value else value for value in values.tolist()]
