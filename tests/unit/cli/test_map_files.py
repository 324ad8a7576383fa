"""Files in the wrong place: a map for a table or a model, and files that do not exist."""

import shutil
from pathlib import Path

import pytest

from isosne.files import MapWriter
from isosne.files.map_reader import find_provenance
from tests.unit.cli.conftest import COLUMNS

LINE = ("explore", "wine.csv", *COLUMNS, "-q")
PATH = "Correct the path."
MODEL = "be a model that isosne embed --save-model wrote, not a map"
TABLE = (
    "Error: TABLE must be a table, not a map that isosne wrote; got 'map.csv'. Name the table of "
    "the map, wine.csv. To map the coordinates themselves, pass --columns x --columns y.\n"
)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((*LINE, "--map", "nofile.csv"), "--map must {0}; got --map nofile.csv."),
        ((*LINE, "--model", "nofile.isosne"), "--model must {0}; got --model nofile.isosne."),
        (("measure", "wine.csv", "nofile.csv"), "MAP must {0}; got 'nofile.csv'."),
        (("plot", "nofile.csv", "-o", "a.png"), "MAP must {0}; got 'nofile.csv'."),
        (
            ("plot", "map.csv", "--then", "nofile.csv", "-o", "a.gif"),
            "--then must {0}; got --then nofile.csv.",
        ),
        (
            ("report", "wine.csv", "--map", "nofile.csv", "-o", "a.html"),
            "--map must {0}; got --map nofile.csv.",
        ),
        (
            ("align", "nofile.csv", "map.csv", "-o", "a.csv"),
            "REFERENCE must {0}; got 'nofile.csv'.",
        ),
        (("align", "map.csv", "nofile.csv", "-o", "a.csv"), "MAP must {0}; got 'nofile.csv'."),
        (
            ("embed", "wine.csv", *COLUMNS, "--align-to", "nofile.csv", "-o", "a.csv"),
            "--align-to must {0}; got --align-to nofile.csv.",
        ),
        (
            ("extend", "model.isosne", "wine.csv", "--map", "nofile.csv", "-o", "a.csv", "-q"),
            "--map must {0}; got --map nofile.csv.",
        ),
    ],
)
def test_a_file_that_does_not_exist_is_named_by_its_option(model, isosne, words, sentence):
    model()
    found = isosne(*words, code=2)
    assert found.stderr == f"Error: {sentence.format('be a file that exists')} {PATH}\n"


def test_only_a_file_with_a_similar_name_is_suggested(model, isosne):
    model()
    for name, hint in (
        ("mep.csv", "Did you mean 'map.csv'?"),
        ("map.cvs", "Did you mean 'map.csv'?"),
        ("new.csv", PATH),
    ):
        found = isosne("embed", name, "-o", "a.csv", code=2)
        assert found.stderr == f"Error: TABLE must be a file that exists; got {name!r}. {hint}\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            (*LINE, "--model", "map.csv"),
            f"--model must {MODEL}; got --model map.csv. Pass --map map.csv to show a map.",
        ),
        (
            (*LINE, "--session", "map.csv"),
            (
                "--session must be a file for a session, not a map; got --session map.csv. "
                "Pass --map map.csv to show a map."
            ),
        ),
        *(
            (words, f"MODEL must {MODEL}; got 'map.csv'. Pass the model of this map.")
            for words in (
                ("transform", "map.csv", "wine.csv", "-o", "a.csv"),
                ("extend", "map.csv", "wine.csv", "-o", "a.csv"),
                ("place", "map.csv", "wine.csv", "-o", "out"),
            )
        ),
    ],
)
def test_a_map_is_no_model_and_no_session(model, isosne, words, sentence):
    model()
    assert isosne(*words, code=2).stderr == f"Error: {sentence}\n"


@pytest.mark.parametrize(
    "words",
    [
        ("embed", "map.csv", "-o", "a.csv"),
        ("explore", "map.csv", "-q"),
        ("report", "map.csv", "-o", "a.html"),
        ("sweep", "map.csv", "-o", "a.jsonl"),
        ("plan", "map.csv"),
    ],
)
def test_a_map_is_no_table(model, isosne, words):
    model()
    assert isosne(*words, code=2).stderr == TABLE


def test_columns_of_a_map_can_be_mapped(model, isosne):
    model()
    isosne("plan", "map.csv", "--columns", "x", "--columns", "y", "--exclude", "label")


def test_a_map_whose_table_has_no_name(here, isosne):
    with MapWriter("map.npz", [1, 2], 2, {"input": {"source": "-"}}) as writer:
        writer.write([[0, 1], [2, 3]])
    found = isosne("embed", "map.npz", "-o", "a.csv", code=2)
    assert " Name the table of the map. " in found.stderr


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather", "npz"])
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


def test_a_map_that_was_changed_or_copied_without_its_provenance_is_a_table(model):
    model()
    shutil.copy("map.csv", "copy.csv")
    assert find_provenance(Path("copy.csv")) == {}
    with Path("map.csv").open("a") as file:
        file.write("\n")
    assert find_provenance(Path("map.csv")) == {}
