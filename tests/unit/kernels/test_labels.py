"""Maps that labels guide: the share of a row for points with the same label."""

import numpy as np
import pandas as pd
import pytest

from isosne import TSNE, GaussianKernel, Landmarks, OwnerKernel, joint_probabilities
from isosne.errors import DataError, ParameterError
from isosne.kernels.labels import as_labels, label_groups
from isosne.structure import label_test
from tests.reference.owner import rows_of_ranks, rows_with_labels


def draw(n=120, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(0, 3, n)


def dense(joint):
    n = len(joint.indptr) - 1
    P = np.zeros((n, n))
    rows = np.repeat(np.arange(n), np.diff(joint.indptr))
    P[rows, joint.indices] = joint.data
    return P


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        ([5, 7, 5, -1], [0, 1, 0, -1]),
        ([5.0, 7.0, np.nan, 5.0], [0, 1, -1, 0]),
        (["b", None, "a", "b"], [1, -1, 0, 1]),
        (np.array(["b", "", "a", "b"]), [1, -1, 0, 1]),  # as tables have it
        (np.array([True, False, True, True]), [1, 0, 1, 1]),
        (pd.Series(pd.Categorical(["x", "y", None, "x"])), [0, 1, -1, 0]),
    ],
)
def test_labels_become_numbers_and_unknown_ones_minus_one(y, expected):
    assert as_labels(y, 4).tolist() == expected


def test_numbers_with_decimals_stay_numbers():
    np.testing.assert_array_equal(as_labels([0.5, np.nan, 2], 3), [0.5, np.nan, 2])


def test_groups_of_numbers_cover_every_known_row_once_with_their_neighbors_in_y():
    y = np.random.default_rng(0).normal(size=1000)
    y[::7] = np.nan
    groups = list(label_groups(y))
    kept = np.concatenate([members[part] for members, part in groups])
    assert sorted(kept) == np.flatnonzero(~np.isnan(y)).tolist()
    for members, part in groups:
        low, high = y[members[part]].min(), y[members[part]].max()
        inside = np.flatnonzero((y >= low) & (y <= high))
        assert set(inside) <= set(members.tolist())


def test_the_joint_probabilities_are_those_of_the_definition():
    X, y = draw(60)
    y[::5] = -1
    kernel = OwnerKernel((3, 6), local_scaling=0, label_weight=0.3)
    found = dense(joint_probabilities(X, kernel, y, random_state=0).joint)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    own = rows_of_ranks(D, (20, 10), n_ranked=59)
    rows = rows_with_labels(D, own, y, 0.3)
    np.testing.assert_allclose(found, (rows + rows.T) / 120, atol=2e-7)


def test_weight_zero_is_the_map_without_labels():
    X, y = draw()
    plain = TSNE(random_state=0).fit(X)
    ignored = TSNE(OwnerKernel(label_weight=0), random_state=0).fit(X, y)
    assert plain.embedding_.tobytes() == ignored.embedding_.tobytes()
    unknown = TSNE(OwnerKernel(label_weight=0.5), random_state=0).fit(X, np.full(120, -1))
    assert plain.embedding_.tobytes() == unknown.embedding_.tobytes()


def test_classes_of_one_point_have_no_share():
    X, _ = draw()
    own = joint_probabilities(X, random_state=0).joint
    alone = joint_probabilities(X, OwnerKernel(label_weight=0.5), np.arange(120), random_state=0)
    np.testing.assert_array_equal(alone.joint.data, own.data)


def test_labels_draw_their_classes_together_and_numbers_their_neighbors():
    X, y = draw(400)
    free = TSNE(random_state=0).fit_transform(X)
    guided = TSNE(OwnerKernel(label_weight=0.5), random_state=0).fit_transform(X, y)

    def same_class(Y):
        D = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)
        np.fill_diagonal(D, np.inf)
        return np.mean(y[np.argsort(D)[:, :10]] == y[:, None])

    assert same_class(free) < 0.4
    assert same_class(guided) > same_class(free) + 0.1
    target = X[:, 0] + 0.001
    ordered = TSNE(OwnerKernel(label_weight=0.8), random_state=0).fit_transform(X, target)
    spread = [np.abs(np.corrcoef(target, Y.T)[0, 1:]).max() for Y in (free, ordered)]
    assert spread[1] > spread[0] + 0.1


def test_saved_extended_and_resumed_maps_keep_their_labels(tmp_path):
    X, y = draw(150)
    model = TSNE(OwnerKernel(label_weight=0.4), random_state=0)
    model.fit(X, y, checkpoint=tmp_path / "run")
    first = model.embedding_.copy()
    model.save(tmp_path / "model.isosne")
    loaded = TSNE.load(tmp_path / "model.isosne")
    np.testing.assert_array_equal(loaded.kernel_.labels_, y)
    affinities = loaded.continue_fit(5).affinities_
    np.testing.assert_array_equal(affinities.data, model.affinities_.data)
    again = TSNE(OwnerKernel(label_weight=0.4), random_state=0)
    again.fit(X, y, checkpoint=tmp_path / "run")
    assert again.embedding_.tobytes() == first.tobytes()
    with pytest.raises(DataError, match="parameter y has changed"):
        again.fit(X, y[::-1], checkpoint=tmp_path / "run")
    grown = again.extend(X[:20] + 0.01, n_iter=5)
    assert grown.kernel_.labels_.tolist() == [*y, *[-1] * 20]


def test_a_file_with_classes_that_no_fit_makes_is_refused(tmp_path):
    X, y = draw(40)
    model = TSNE(OwnerKernel(label_weight=0.4), random_state=0).fit(X, y)
    model.kernel_.labels_ = np.full(40, 2**60)  # a loop over so many classes would not end
    model.save(tmp_path / "model.isosne")
    with pytest.raises(DataError, match="damaged"):
        TSNE.load(tmp_path / "model.isosne")


def test_landmarks_take_the_labels_of_their_rows():
    X, y = draw(300)
    model = TSNE(OwnerKernel(label_weight=0.4), landmarks=Landmarks(100), random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.kernel_.labels_, y[model.landmark_indices_])


def test_wrong_labels_are_refused():
    X, y = draw()
    model = TSNE(OwnerKernel(label_weight=0.3))
    with pytest.raises(ParameterError, match=r"^y must hold a label per row"):
        model.fit(X)
    with pytest.raises(DataError, match=r"^y must hold one label per row, shape \(120,\)"):
        model.fit(X, y[:7])
    with pytest.raises(DataError, match=r"^y must be finite"):
        model.fit(X, np.full(120, np.inf))
    with pytest.raises(ParameterError, match=r"^label_weight must"):
        TSNE(OwnerKernel(label_weight=1)).fit(X, y)
    with pytest.raises(ParameterError, match=r"^label_weight must be 0 with precomputed"):
        TSNE(OwnerKernel(label_weight=0.3, metric="precomputed")).fit(np.ones((120, 120)), y)
    with pytest.raises(ParameterError, match=r"^objective must be 'kl' with label_weight"):
        TSNE(OwnerKernel(label_weight=0.3), objective="nerv").fit(X, y)
    with pytest.raises(ParameterError, match=r"^affinities must be 'sparse'"):
        TSNE(OwnerKernel(label_weight=0.3), affinities="dense").fit(X, y)


def test_the_label_test_tells_labels_from_data():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 240)
    X = rng.normal(size=(240, 5))
    noise = label_test(TSNE(OwnerKernel(label_weight=0.6), random_state=0), X, y, n_folds=3)
    assert noise.fitted > 0.5
    assert noise.permuted == pytest.approx(noise.fitted, abs=0.15)
    assert noise.held_out == pytest.approx(1 / 3, abs=0.1)
    assert "held out" in str(noise)
    real = label_test(
        TSNE(OwnerKernel(label_weight=0.3), random_state=0), X + 1.2 * y[:, None], y, n_folds=3
    )
    assert real.held_out > 0.8
    assert real.held_out > real.permuted
    assert "held_out" in real._repr_html_()
    with pytest.raises(ParameterError, match=r"^model must have a kernel with label_weight"):
        label_test(TSNE(GaussianKernel()), X, y)
