"""Maps of isosne among the files of a command."""

from pathlib import Path

import pytest

from isosne.rows import MapWriter
from isosne.rows.maps import find_provenance


def test_columns_of_a_map_can_be_mapped(model, isosne):
    model()
    isosne("embed", "map.csv", "--plan", "--columns", "x", "--columns", "y", "--exclude", "label")


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
def test_maps_of_isosne_are_told_from_other_files(here, ending):
    path = Path(f"map.{ending}")
    with MapWriter(path, ["a", "b"], 2, {"seed": 3}) as writer:
        writer.write([[0, 1], [2, 3]])
    assert find_provenance(path) == {"seed": 3}
    for name in ("nofile.csv", ".", "other.npy"):
        assert find_provenance(Path(name)) == {}
    damaged = Path(f"damaged.{ending}")
    damaged.write_bytes(b"\x00\xff nothing")
    assert find_provenance(damaged) == {}
