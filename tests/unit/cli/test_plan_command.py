"""`isosne plan`: what a run would do."""

from dataclasses import asdict

import numpy as np

from isosne import TSNE


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
    assert set(found) == set(asdict(TSNE().plan(np.eye(9))))


def test_a_wish_that_has_no_part_in_the_plan_is_named(wine_set, isosne):
    found = isosne("plan", "wine", "--neighbors", "approximate")
    assert found.stderr == (
        "isosne: note: --neighbors approximate has no part in this: affinities are dense, and only "
        "sparse ones look for neighbors.\n"
    )
    assert isosne("plan", "wine", "--neighbors", "exact", "--affinities", "sparse").stderr == ""


def test_what_does_not_fit_is_refused(wine_set, isosne):
    found = isosne("plan", "wine", "--affinities", "dense", "--memory-limit", "1kB", code=2)
    assert "isosne: --affinities dense of 178 points need" in found.stderr
    assert found.stdout == ""


def test_more_values_than_an_int32_counts(here, isosne):
    # 2^32 values; the file is a hole and takes no space.
    rows = np.lib.format.open_memmap("huge.npy", "w+", np.uint8, (2**27, 2**5))
    del rows
    line = ("plan", "huge.npy", "--memory-limit", "1GB")
    assert "landmarks of 134,217,728 rows" in isosne(*line, "--landmarks", 1000).stdout
    refused = isosne(*line, code=2).stderr
    assert refused.count("\n") == 1
    assert "134,217,728 points need" in refused
    assert "--landmarks " in refused
