"""`isosne datasets`."""

import re


def test_data_sets_are_listed_with_where_they_come_from(here, isosne):
    (here / "wine.npz").touch()
    told = isosne("datasets", "--data", here).stdout
    assert re.search(r"^wine +178 +13 +3 +folder: wine.npz$", told, re.MULTILINE)
    assert len(told.splitlines()) == 22
