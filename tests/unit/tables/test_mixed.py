"""Text tables whose columns are features as they are."""

import numpy as np
import pytest

from isosne.rows import read_table
from isosne.tables.mixed import as_mixed


@pytest.mark.parametrize(("other", "line"), [("12a", 1), ("unknown", 2000)])
def test_a_column_that_looks_like_numbers_may_hold_text(tmp_path, other, line):
    """Also far from the lines that types are guessed from."""
    cells = [f"{i},12" for i in range(2000)]
    cells[0], cells[line - 1] = "NA,7", f"5,{other}"
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["size,house", *cells]) + "\n")
    table = as_mixed(read_table(path, text_columns="leave_out", needs_numbers=False))
    n_missing = int(line > 1)
    sizes = "size number, 1 missing" if n_missing else "size number"
    assert table.notes == (f"Columns: {sizes}; house category ({2 + n_missing}).",)
    columns = table.rows.columns()
    assert columns["house"][line - 1] == other
    assert np.isnan(columns["size"]).sum() == n_missing
