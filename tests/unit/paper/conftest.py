"""A data folder with two small sets, so that nothing is fetched, and short schedules."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from isosne.layout.schedules import Phase, Schedule
from isosne.paper.settings import Settings


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory):
    """Wine and WDBC as scikit-learn has them: the same values as the paper's source."""
    folder = tmp_path_factory.mktemp("data")
    for name, loader in (("wine", load_wine), ("wdbc", load_breast_cancer)):
        found = loader()
        np.savez(
            folder / f"{name}.npz",
            X=found.data,
            y=found.target,
            classes=found.target_names.astype(str),
        )
    return folder


@pytest.fixture
def settings(tmp_path, data_folder):
    """Return quick settings that write to an empty folder; maps take sixty steps."""
    out = tmp_path / "out"
    out.mkdir()
    short = Schedule((Phase(20, exaggeration=4), Phase(40)))
    return Settings(out, quick=True, data=data_folder, n_jobs=1, schedule=short)
