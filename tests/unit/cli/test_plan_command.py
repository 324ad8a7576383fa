"""`isosne plan`: the methods that a run would use."""

import numpy as np

from isosne import TSNE
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
