"""A model of three named columns, in a file, and rows to place on its map."""

import numpy as np
import pandas as pd
import pytest

from isosne import TSNE, Phase, Schedule

NAMES = ["a", "b", "c"]
FEW = Schedule((Phase(12, exaggeration=4), Phase(12)))


def rows_of(n, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, 3)) + 4 * rng.integers(0, 3, (n, 1))).astype(np.float32)


@pytest.fixture(scope="session")
def new_rows():
    return rows_of(70, seed=1)


@pytest.fixture(scope="session")
def model_file(tmp_path_factory):
    """A model that knows the names of its columns."""
    path = tmp_path_factory.mktemp("model") / "model.isosne"
    frame = pd.DataFrame(rows_of(150), columns=NAMES)
    TSNE(random_state=0, schedule=FEW).fit(frame).save(path)
    return path


@pytest.fixture(scope="session")
def expected(model_file, new_rows):
    """The coordinates of the new rows."""
    return TSNE.load(model_file).place(new_rows)
