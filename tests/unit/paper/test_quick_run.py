"""The command line's quick run, from data to tables, as CI runs it.

Reference values were measured with the authors' published code, one run each; AUC_RNX is held to
5 % of them, and to 8 % where psi is small: with another seed it moves by 4 % either way there.
"""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.slow
SIMULATIONS = ("table-1", "table-2", "appendix-a")
AUC = [
    # set, way, parameter, value on the grid, reference (at its own value), tolerance
    ("wine", "gaussian", "perplexity", 13, (0.63, 0.65), 0.05),  # 13
    ("wine", "isolation", "psi", 9, (0.45, 0.45), 0.08),  # 8
    ("wine", "isolation", "psi", 87, (0.61, 0.61), 0.05),  # 89
    ("wdbc", "gaussian", "perplexity", 21, (0.56, 0.56), 0.05),  # 21
    ("wdbc", "isolation", "psi", 13, (0.37, 0.37), 0.08),  # 13; ours with 8 seeds 0.350 to 0.377
    ("wdbc", "isolation", "psi", 279, (0.51, 0.53), 0.05),  # 284
]


def command(*arguments):
    program = [sys.executable, "-c", "from isosne.cli import main; main()"]
    return [*program, "paper", *map(str, arguments)]


def run(*arguments):
    done = subprocess.run(command(*arguments), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def quick(tmp_path_factory, data_folder):
    """Run the results and the simulations once; return their folder and the processor's seconds.

    Dermatology takes part where ISOSNE_DATA has it; scikit-learn holds the two others.
    """
    out = tmp_path_factory.mktemp("paper")
    data = os.environ.get("ISOSNE_DATA")
    choice = ("--data", data) if data else ("--data", data_folder, "--sets", "wine,wdbc")
    began = seconds_of_processes()
    run("results", "--quick", "--output", out, *choice)
    for name in SIMULATIONS:
        run(name, "--quick", "--output", out)
    return out, seconds_of_processes() - began


def seconds_of_processes():
    """Return the processor's seconds of all programs run so far, on all cores together."""
    times = os.times()
    return times.children_user + times.children_system


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


def test_it_ends_within_five_minutes(quick):
    # On two idle cores it takes half of this or little more; a busy machine does not count.
    assert quick[1] < 300  # measured: some 150 s, compilation included


def test_every_result_has_its_page_and_its_values(quick):
    out, _ = quick
    for name in ("results", *SIMULATIONS):
        assert (out / f"{name}.md").stat().st_size > 500
        assert json.loads((out / f"{name}.json").read_text())["name"] == name
    for name in SIMULATIONS:
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("name", "way", "parameter", "value", "reference", "within"), AUC)
def test_kept_neighbors_are_those_of_the_authors_program(
    quick, name, way, parameter, value, reference, within
):
    rows = rows_of(quick[0] / "sweeps" / f"{name}-{way}.jsonl")
    (row,) = [row for row in rows if row[parameter] == value]
    assert (1 - within) * reference[0] <= row["auc_rnx"] <= (1 + within) * reference[1]


@pytest.mark.parametrize("name", ["wine", "wdbc"])
def test_a_small_psi_has_the_tighter_classes(quick, name):
    values = json.loads((quick[0] / "results.json").read_text())["values"]["sets"][name]["best"]
    gaussian = values["gaussian"]["calinski_harabasz"]["calinski_harabasz"]
    isolation = values["isolation"]["calinski_harabasz"]["calinski_harabasz"]
    assert isolation > gaussian


def test_the_simulations_show_what_the_paper_shows(quick):
    out, _ = quick

    def values(name, kernel, parameter, value):
        rows = json.loads((out / f"{name}.json").read_text())["values"]
        (row,) = [r for r in rows if r["kernel"] == kernel and r.get(parameter) == value]
        return row

    inside = "largest share of one of clusters 1-3 inside another"
    assert values("table-1", "gaussian", "perplexity", 250)[inside] > 0.9
    assert values("table-1", "isolation", "psi", 250)[inside] < 0.1
    assert values("table-2", "gaussian", "perplexity", 300)["origin in spreads"] > 20
    for psi in (50, 210, 300):
        along = values("table-2", "isolation", "psi", psi)["origin along the line of centers"]
        assert 0.3 < along < 0.7
    along = values("appendix-a", "isolation", "psi", 20)["cluster 3 along the line of centers"]
    assert 0.35 < along < 0.65


def test_a_killed_run_goes_on_and_ends_the_same(quick, tmp_path, data_folder):
    data = os.environ.get("ISOSNE_DATA") or data_folder
    arguments = (
        "results",
        "--quick",
        "--sets",
        "wine",
        "--output",
        tmp_path,
        "--data",
        data,
        "--n-jobs",
        1,
    )
    first = tmp_path / "sweeps" / "wine-gaussian.jsonl"
    with subprocess.Popen(command(*arguments), stderr=subprocess.DEVNULL) as killed:
        while not (first.exists() and first.read_bytes().count(b"\n") > 3):
            assert killed.poll() is None
            time.sleep(0.02)
        killed.send_signal(signal.SIGKILL)
    before = first.read_bytes()
    n_before = before.count(b"\n")
    run(*arguments)
    assert n_before < 12  # what it is about, and eleven maps
    assert first.read_bytes().startswith(before[: before.rfind(b"\n") + 1])
    for path in sorted((tmp_path / "sweeps").iterdir()):
        found = {_key(row): row for row in rows_of(path)}
        expected = {_key(row): row for row in rows_of(quick[0] / "sweeps" / path.name)}
        assert found.keys() == expected.keys()
        for key, row in found.items():
            assert measured(row) == pytest.approx(measured(expected[key]), rel=1e-6)


def measured(row):
    """Return the numbers of a row without its time."""
    return {k: v for k, v in row.items() if k != "seconds" and not isinstance(v, str)}


def _key(row):
    return str(row.get("psi", row.get("perplexity")))
