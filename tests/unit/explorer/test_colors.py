import numpy as np
import pytest

from isosne.explorer.colors import list_choices, pack_colors, paint
from isosne.explorer.data import from_python
from isosne.explorer.measuring import Measurer, measure
from isosne.explorer.session import DENSITY, SELECTIONS, TRUST, Session
from isosne.plots.paint import Classes, Values
from isosne.plots.palette import COLORS, FAINT, MAX_CLASSES
from isosne.quality import trust


def packed(color):
    return int(color[1:] + "ff", 16)


def test_classes_have_the_colors_of_all_figures():
    found = pack_colors(Classes(["a", "b", "none"], np.array([1, 0, 2]), has_rest=True), 3)
    assert found.tolist() == [packed(COLORS[1]), packed(COLORS[0]), packed(FAINT)]


def test_values_without_a_number_are_gray():
    found = pack_colors(Values(np.array([0.0, np.nan, 1.0]), 0.0, 1.0), 3)
    assert found[1] == packed(FAINT)
    assert len(set(found.tolist())) == 3


def test_choices_are_labels_first_and_selections_once_they_have_names(session):
    names = list_choices(session)
    assert names[:4] == ["label", "nothing", TRUST, DENSITY]
    assert SELECTIONS not in names
    session.select([1])
    session.name_selection("x")
    assert SELECTIONS in list_choices(session)


@pytest.mark.parametrize("color", ["label", "nothing", DENSITY, "color", "column 0", "name"])
def test_every_choice_gives_a_color_to_every_row(mapped, color):
    mapped.paint(color)
    found = paint(mapped, Measurer(mapped), np.arange(60.0))
    assert [len(colors) for colors in found.colors] == [60]


def test_names_from_the_data_are_escaped_in_a_legend(session):
    session.select([1])
    session.name_selection("<script>alert(1)</script>")
    session.paint(SELECTIONS)
    legend = paint(session, Measurer(session), None).legend
    assert "<script>" not in legend
    assert "&lt;script&gt;" in legend


def test_a_column_without_colors_says_why(two_blobs):
    session = Session()
    days = np.arange(MAX_CLASSES + 60).astype("datetime64[D]")
    X = np.resize(two_blobs, (len(days), 5))
    session.open(from_python(X, columns={"<day>": days, "one": np.zeros(len(days))}))
    session.paint("<day>")
    legend = paint(session, Measurer(session), None).legend
    assert legend == (
        f"<b>&lt;day&gt;</b><span>{len(days)} distinct values, too many for colors</span>"
    )
    session.paint("one")
    legend = paint(session, Measurer(session), None).legend
    assert legend == "<b>one</b><span>all values are equal</span>"
    session.paint("nothing")
    assert paint(session, Measurer(session), None).legend == ""


def test_measures_are_those_of_the_quality_package(mapped):
    found = measure(mapped, mapped.maps[0], is_final=True, n_queries=None)
    Y = mapped.maps[0].frame(60)[1]
    np.testing.assert_array_equal(found.trust, trust(mapped.rows.X, Y).agreement)
    assert found.is_final
    assert 0 < found.auc < 1


def test_only_the_rows_of_a_partial_map_have_trust(mapped):
    mapped.select(np.arange(20))
    mapped.reembed()
    assert mapped.maps[1].run.join(60)
    found = measure(mapped, mapped.maps[1], is_final=True, n_queries=None)
    assert np.isfinite(found.trust[:20]).all()
    assert np.isnan(found.trust[20:]).all()
