"""Groups of rows on the command line."""

import numpy as np
import pytest

from isosne import GroupFeatures
from isosne.rows import read_map
from tests.unit.cli.conftest import SHORT, short_tsne, write_csv

EMBED = ("embed", "rows.csv", "--group", "patient", "--label", "kind", *SHORT)


@pytest.fixture
def rows(here):
    """Rows of 12 patients in random order, of two kinds; the last patient has both."""
    rng = np.random.default_rng(0)
    of_row = rng.integers(0, 12, 200)
    kinds = np.where(of_row % 2, "wide", "narrow")
    kinds[np.flatnonzero(of_row == 11)[0]] = "narrow"
    X = rng.normal(size=(200, 3)) * np.where(of_row % 2, 5.0, 1.0)[:, None]
    names = [f"P{number:02}" for number in of_row]
    columns = {"id": range(200), "a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    write_csv(here / "rows.csv", {**columns, "patient": names, "kind": kinds})
    return X, of_row


def test_a_map_has_one_point_per_group(rows, isosne):
    found = isosne(*EMBED, "-o", "map.csv")
    drawn = read_map("map.csv")
    X, of_row = rows
    groups = [X[of_row == number] for number in range(12)]
    expected = short_tsne().fit_transform(GroupFeatures(random_state=0).fit_transform(groups))
    np.testing.assert_allclose(drawn.embedding, expected, rtol=1e-5)
    assert drawn.ids.tolist() == [f"P{number:02}" for number in range(12)]
    assert drawn.labels.tolist() == ["narrow", "wide"] * 5 + ["narrow", ""]
    sizes = np.bincount(of_row)
    note = f"200 rows in 12 groups of {sizes.min()} to {sizes.max()} rows. 1 group(s) have rows"
    assert note in found.stderr
    assert isosne("measure", "rows.csv", "map.csv", "--k", 3).stdout
    isosne("plot", "map.csv", "--table", "rows.csv", "--color", "a", "-o", "map.png")


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--save-model", "m"), "--save-model must be left out with --group; got --save-model m."),
        (("--landmarks", 5), "--landmarks must be left out with --group; got --landmarks 5."),
        (("--weight", "a"), "--weight must be left out with --group; got --weight a."),
        (("--mixed",), "--group must be left out with --mixed, which uses all columns as they are"),
    ],
)
def test_what_does_not_go_with_groups_is_refused(rows, isosne, more, sentence):
    assert sentence in isosne(*EMBED, *more, "-o", "map.csv", code=2).stderr


def test_every_row_must_have_a_group(here, isosne):
    X = np.arange(8.0)
    write_csv(here / "rows.csv", {"a": X, "b": X**2, "group": ["u", "v", "", "u"] * 2})
    told = isosne("embed", "rows.csv", "--group", "group", "-o", "map.csv", code=1).stderr
    assert "Each row must have a group; column 'group' is empty in 2 of 8 rows." in told


def test_groups_are_compared_after_scaling(rows, isosne):
    maps = []
    for scale in ("none", "minmax"):
        isosne(*EMBED, "--scale", scale, "-o", f"{scale}.csv")
        maps.append(read_map(f"{scale}.csv").embedding)
    X, of_row = rows
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    groups = [scaled[of_row == number] for number in range(12)]
    expected = short_tsne().fit_transform(GroupFeatures(random_state=0).fit_transform(groups))
    np.testing.assert_allclose(maps[1], expected, rtol=1e-5)
    assert not np.allclose(*maps)
