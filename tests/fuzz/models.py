"""Area "model": changed model files are loaded and used."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.sparse import csr_array

from isosne import (
    KL,
    TSNE,
    AdaptiveGaussianKernel,
    GaussianKernel,
    IsolationKernel,
    KNNKernel,
    Mesh,
    OwnerKernel,
    Phase,
    Schedule,
    Sparse,
)
from isosne.rows import open_rows
from isosne.rows.scaled import Scale, ScaledRows
from tests.fuzz.archives import change_archive
from tests.fuzz.case import Case

N_POINTS, N_FEATURES = 24, 3
POINTS = np.random.default_rng(0).normal(size=(N_POINTS, N_FEATURES))
SCALED = ScaledRows(open_rows(POINTS), Scale(np.zeros(N_FEATURES), np.ones(N_FEATURES)))
DISTANCES = np.sqrt(((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=2))
SPARSE_POINTS = csr_array(np.maximum(POINTS, 0))
SHORT = Schedule((Phase(3, exaggeration=4, step=1.0), Phase(3, step=1.0)))
FOREST = IsolationKernel((4, 8), n_partitions=6, partition="forest")
DRAWN = IsolationKernel(4, n_partitions=6)
MODELS = {
    "forest": (FOREST, POINTS, {}),
    "scaled": (IsolationKernel((4, 8), n_partitions=6), SCALED, {"start": POINTS[:, :2]}),
    "landmarks": (DRAWN, POINTS, {"landmarks": 12}),
    "csr": (FOREST, SPARSE_POINTS, {}),
    "sampled": (DRAWN, POINTS, {"affinities": "sampled", "forces": "tree"}),
    "exact": (IsolationKernel(5, n_partitions="exact"), POINTS, {"affinities": "sparse"}),
    "gaussian": (
        GaussianKernel((3, 7)),
        POINTS,
        {"affinities": Sparse("exact"), "forces": Mesh(0.05)},
    ),
    "mahalanobis": (GaussianKernel(5, metric="mahalanobis"), POINTS, {"n_components": 1}),
    "adaptive": (AdaptiveGaussianKernel(4), POINTS, {"n_components": 3, "objective": KL(dof=2.0)}),
    "knn": (KNNKernel(4, metric="cosine"), POINTS, {"objective": "nerv", "exaggeration": 2.0}),
    "owner": (OwnerKernel((2, 0.2)), POINTS, {"schedule": "annealed"}),
    "distances": (IsolationKernel(5, metric="precomputed"), DISTANCES, {}),
    "affinities": ("precomputed", np.exp(-DISTANCES), {}),
}


def make_model(name: str) -> TSNE:
    """Return an unfitted model of a few steps."""
    kernel, _, settings = MODELS[name]
    return TSNE(kernel, random_state=0, **({"schedule": SHORT} | settings))


@cache
def original(name: str) -> bytes:
    """Return the content of a valid model file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.isosne"
        make_model(name).fit(MODELS[name][1]).save(path)
        return path.read_bytes()


def run(case: Case) -> None:
    """Change a model file, load it, and use what was loaded."""
    name = case.pick(*MODELS)
    case.note(f"model: {name}")
    content = change_archive(case, original(name))
    path = case.path("model.isosne")
    path.write_bytes(content)
    try:
        model = TSNE.load(path)
    finally:
        case.promise(path.read_bytes() == content, "the file was changed")
    n_components = model.embedding_.shape[1]
    new = POINTS[:4] + 0.01
    if name in ("distances", "affinities"):
        new = DISTANCES[:4]
    elif name == "csr":
        new = SPARSE_POINTS[:4]
    case.promise_finite(model.transform(new), (4, n_components), "transform")
    model.continue_fit(2)
    case.promise_finite(model.embedding_, (model.embedding_.shape[0], n_components), "continue_fit")
    str(model.plan_)
    model.save(path)
    TSNE.load(path)
