"""`isosne plan`: the methods that a run would use."""

import numpy as np
import pytest

from isosne import TSNE
from isosne.jobs.estimate import show_seconds
from tests.unit.cli.conftest import sentence_of


def test_the_plan_of_a_large_file_is_printed_without_reading_it(here, isosne):
    rows = np.lib.format.open_memmap("big.npy", "w+", np.float32, (1_000_000, 10))
    del rows
    found = isosne("plan", "big.npy", "--landmarks", 10_000, "--memory-limit", "1.5GB")
    expected = TSNE(landmarks=10_000, memory_limit="1.5GB", random_state=0).plan("big.npy")
    assert found.stdout == f"{expected}\n"
    assert found.stdout.startswith(
        "points      10,000 to 2 dimensions; landmarks of 1,000,000 rows"
    )


def test_one_object_for_machines(wine_set, isosne_json):
    found = isosne_json("plan", "wine", "--kernel", "gaussian", "--perplexity", 20)
    assert found["n_points"] == 178
    assert found["kernel"] == "GaussianKernel(perplexity=20)"
    assert set(found) == set(TSNE().plan(np.eye(9)).as_dict())


def test_more_values_than_an_int32_counts(here, isosne):
    # 2^32 values; the file is a hole and takes no space.
    rows = np.lib.format.open_memmap("huge.npy", "w+", np.uint8, (2**27, 2**5))
    del rows
    line = ("plan", "huge.npy", "--memory-limit", "1GB")
    assert "landmarks of 134,217,728 rows" in isosne(*line, "--landmarks", 1000).stdout
    call = TSNE(memory_limit="1GB").plan
    assert isosne(*line, code=2).stderr == (
        f"Error: {sentence_of(lambda: call('huge.npy'), 'plan')}\n"
    )


def test_the_cost_of_placing_is_measured_and_extrapolated(here, isosne_json):
    np.save("some.npy", np.random.default_rng(0).normal(size=(5000, 4)).astype(np.float32))
    line = ("plan", "some.npy", "--landmarks", 300, "--rows", "1e9", "--workers", 16)
    found = isosne_json(*line)
    placing = found.pop("placing")
    alone = isosne_json(*line[:4])
    assert found | {"bytes_available": 0} == alone | {"bytes_available": 0}
    assert (placing["n_rows"], placing["n_workers"]) == (10**9, 16)
    per_row = sum(placing[f"{name}_seconds"] for name in ("read", "place", "write"))
    assert placing["seconds"] == pytest.approx(per_row * 10**9 / 16)
    assert placing["place_seconds"] > 0
    assert placing["read_bytes"] == round((5000 * 16 + 128) / 5000 * 10**9)
    assert (
        7.9e9 < placing["written_bytes"] < 13e9
    )  # 8 bytes per row, and the dictionary of a column
    assert 0.3e9 < placing["worker_bytes"] < 1e9


def test_all_rows_of_the_table_are_placed_by_one_worker_by_default(here, isosne):
    np.save("some.npy", np.random.default_rng(0).normal(size=(900, 4)))
    told = isosne("plan", "some.npy", "--landmarks", 300, "--workers", 1).stdout
    assert "placing     900 rows by 1 worker(s) with one core each\n" in told
    names = [line.split()[0] for line in told.splitlines()[-6:]]
    assert names == ["placing", "time", "rate", "workers", "reads", "writes"]


@pytest.mark.parametrize("option", [("--rows", "1e9"), ("--workers", "4")])
def test_placing_needs_landmarks(here, isosne, option):
    np.save("some.npy", np.eye(9))
    told = isosne("plan", "some.npy", *option, code=2).stderr
    assert f"Error: {option[0]} must be used together with --landmarks; got {option[0]} " in told
    assert told.endswith("Add for example --landmarks 10000.\n")


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0.5, "0.5 seconds"),
        (80, "80 seconds"),
        (90, "1.5 minutes"),
        (7200, "2 hours"),
        (6e5, "6.94 days"),
    ],
)
def test_times_have_a_unit_that_suits_them(seconds, told):
    assert show_seconds(seconds) == told
