"""The paper's claims about maps, as numbers.

Reference values were measured with the authors' published code: one run each, on data scaled to
0..1. AUC_RNX must agree to 5 %. DB and CH vary by more than 15 % between seeds, so the reference
must lie within the range of ten seeds, widened by 15 %.
"""

import numpy as np
import pytest
from benchmarks.paper.simulations import SIMULATIONS
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import minmax_scale

from isosne import TSNE, GaussianKernel, IsolationKernel
from isosne.datasets import make_shared_clusters
from tests.reference.quality import auc_rnx, calinski_harabasz, davies_bouldin, r_nx

pytestmark = pytest.mark.paper


@pytest.fixture(scope="module")
def measured():
    """AUC_RNX, DB and CH of maps by the authors' schedule, one row per seed, computed once."""
    made = {}

    def measure(load, kernel, n_seeds=10):
        rows = made.setdefault((load.__name__, str(kernel)), [])
        X, y = load(return_X_y=True)
        X = minmax_scale(X)
        for seed in range(len(rows), n_seeds):
            Y = draw(X, kernel, seed)
            rows.append((auc_rnx(X, Y), davies_bouldin(Y, y), calinski_harabasz(Y, y)))
        return np.array(rows[:n_seeds])

    return measure


def draw(X, kernel, seed):
    """Return the map by the authors' schedule; one thread, because such maps are small."""
    model = TSNE(kernel, schedule="paper", start="random", random_state=seed, n_jobs=1)
    return model.fit_transform(X)


# ranges where more than one program was run
REFERENCE = [
    (load_wine, GaussianKernel(13), (0.63, 0.65), (0.59, 0.73), (314, 499)),
    (load_wine, IsolationKernel(8), (0.45, 0.45), (0.43, 0.43), (815, 859)),
    # CH was 390 in that run: not reproduced, docs/departures.md has our figures
    (load_wine, IsolationKernel(89), (0.61, 0.61), (0.65, 0.65), None),
    (load_breast_cancer, GaussianKernel(21), (0.56, 0.56), (0.84, 0.94), (463, 600)),
    (load_breast_cancer, IsolationKernel(13), (0.37, 0.37), (0.62, 0.85), (546, 1086)),
    (load_breast_cancer, IsolationKernel(284), (0.51, 0.53), (0.77, 0.77), (711, 711)),
]
NAMES = [f"{load.__name__[5:]}-{kernel}" for load, kernel, *_ in REFERENCE]


@pytest.mark.parametrize(("load", "kernel", "auc", "db", "ch"), REFERENCE, ids=NAMES)
def test_measures_are_those_of_the_authors_program(measured, load, kernel, auc, db, ch):
    found = measured(load, kernel)
    # the medians of three seeds
    assert 0.95 * auc[0] <= np.median(found[:3, 0]) <= 1.05 * auc[1]
    for values, span in ((found[:, 1], db), (found[:, 2], ch)):
        if span is not None:
            assert values.min() <= 1.15 * span[1]
            assert values.max() >= 0.85 * span[0]


@pytest.mark.parametrize(
    ("load", "small_psi", "perplexity"), [(load_wine, 8, 13), (load_breast_cancer, 13, 21)]
)
def test_a_small_psi_draws_far_tighter_clusters(measured, load, small_psi, perplexity):
    # Medians of ten seeds are not stable. Measured for breast cancer: DB 0.75 against 0.84 with
    # ten seeds, 0.69 against 0.86 with twenty, 0.69 against 0.87 with forty.
    isolation = np.median(measured(load, IsolationKernel(small_psi), 20), axis=0)
    gaussian = np.median(measured(load, GaussianKernel(perplexity), 20), axis=0)
    assert isolation[1] < 0.85 * gaussian[1]
    assert isolation[2] > 1.4 * gaussian[2]


@pytest.mark.parametrize(
    ("load", "large_psi", "perplexity"), [(load_wine, 89, 13), (load_breast_cancer, 284, 21)]
)
def test_the_gaussian_kernel_keeps_slightly_more_neighbors(measured, load, large_psi, perplexity):
    # The paper prints the opposite; its own program shows this.
    isolation = np.median(measured(load, IsolationKernel(large_psi))[:, 0])
    gaussian = np.median(measured(load, GaussianKernel(perplexity))[:, 0])
    assert 1 < gaussian / isolation < 1.1


def test_the_measure_of_kept_neighbors_is_one_for_a_copy_and_zero_by_chance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    assert auc_rnx(X, 2 * X) == 1
    assert np.all(r_nx(X, X) == 1)
    # 200 points: the mean over k of a number that varies by about 1 / sqrt(200 k)
    assert abs(auc_rnx(X, rng.normal(size=(200, 2)))) < 0.03


def test_the_measure_of_kept_neighbors_by_hand():
    # On lines: X at 0, 1, 3, 7; Y has the last two points exchanged: 0, 1, 7, 3.
    # Neighbors in X, nearest first: 0: 1 2 3;  1: 0 2 3;  2: 1 0 3;  3: 2 1 0
    # Neighbors in Y:                0: 1 3 2;  1: 0 3 2;  2: 3 1 0;  3: 1 0 2
    # k = 1: 0 and 1 keep theirs: Q = 2 / 4;  k = 2: {1}, {0}, {1}, {1}: Q = 4 / 8
    # R = ((n - 1) Q - k) / (n - 1 - k): (1.5 - 1) / 2 = 0.25;  (1.5 - 2) / 1 = -0.5
    # weights 1 and 1/2: (0.25 - 0.25) / 1.5 = 0
    X, Y = np.array([[0.0], [1], [3], [7]]), np.array([[0.0], [1], [7], [3]])
    assert r_nx(X, Y).tolist() == [0.25, -0.5]
    assert auc_rnx(X, Y) == 0


INSIDE = "largest fraction of clusters 1-3 inside another"
TOUCHING = "origin to the farthest of clusters 1-3"
ALONG, ASIDE = "origin along the line of centers", "distance from the line"
AWAY = "origin, in radii of the map"
THIRD = "cluster 3 along the line of centers"
BETWEEN = {ALONG: (0.3, 0.7), ASIDE: (0, 0.4), AWAY: (0, 0.6)}
SHOWN = [
    # Table 1: apart, and touching at the origin; with the Gaussian kernel one inside another.
    ("table-1", IsolationKernel(250), 0, {INSIDE: (0, 0.1), TOUCHING: (0, 0.05)}),
    ("table-1", GaussianKernel(250), 0, {INSIDE: (0.9, 1)}),
    # Table 2: the origin stays between two clusters; with the Gaussian kernel it is far away
    # (measured: 35 to 1500 radii).
    *[("table-2", IsolationKernel(psi), 0, BETWEEN) for psi in (50, 210, 300)],
    ("table-2", GaussianKernel(300), 0, {AWAY: (20, np.inf)}),
    # Appendix A: the cluster of shared attributes lies between the two that share them.
    *[
        ("appendix-a", IsolationKernel(20), seed, {THIRD: (0.35, 0.65), ASIDE: (0, 0.1)})
        for seed in (0, 1)
    ],
]


@pytest.mark.parametrize(("name", "kernel", "seed", "bounds"), SHOWN, ids=str)
def test_maps_of_simulations_show_what_those_of_the_paper_show(name, kernel, seed, bounds):
    simulation = SIMULATIONS[name]
    X, y = simulation.make_points(random_state=0)
    found = simulation.measure(draw(X, kernel, seed), y)
    for measure, (low, high) in bounds.items():
        assert low <= found[measure] <= high, measure


@pytest.mark.parametrize("seed", range(3))
def test_the_default_separates_three_clusters_that_share_attributes(seed):
    X, y = make_shared_clusters(random_state=seed)
    Y = TSNE(random_state=seed, n_jobs=1).fit_transform(X)
    accuracy = cross_val_score(KNeighborsClassifier(10), Y, y, cv=5).mean()
    assert accuracy >= 0.99
    assert (
        0.3 < SIMULATIONS["appendix-a"].measure(Y, y)["cluster 3 along the line of centers"] < 0.7
    )
