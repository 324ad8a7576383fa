"""Joint probabilities P without a map (steps 1 and 2), for methods that need nothing else."""

from typing import Any, NamedTuple

from isosne._random import RandomState, as_generator
from isosne._types import Joint
from isosne.kernels.base import MetricKernel
from isosne.tsne.assembly import make_affinities
from isosne.tsne.estimator import TSNE
from isosne.tsne.job import Job
from isosne.tsne.plan import make_plan, seeded_kernel


class Similarities(NamedTuple):
    """A fitted kernel and the joint probabilities of its points."""

    kernel: MetricKernel
    joint: Joint


def fit_similarities(X: Any, kernel: Any, random_state: RandomState) -> Similarities:
    """Return the fitted kernel and P of points, as ``TSNE(kernel, random_state).fit`` has them."""
    settings = TSNE(kernel, random_state=random_state)
    rng = as_generator(random_state)
    given = settings._open(X)
    request = settings._request(Job(given, rng, settings._schedule(), None), rng, {})
    plan = make_plan(request, given.size(), settings.get_params(deep=False))
    fitted, _ = given.fit(seeded_kernel(plan, request), rng)
    draws = int(rng.integers(2**31)) if plan.affinities == "sampled" else 0
    return Similarities(fitted, make_affinities(fitted, plan, draws)[0])


def similarities_of(fitted: TSNE | MetricKernel) -> Similarities:
    """Return the kernel and P of a fitted estimator; P is computed if it does not hold it."""
    if isinstance(fitted, TSNE):
        if hasattr(fitted, "affinities_"):
            return Similarities(fitted.kernel_, fitted.affinities_)
        joint, _ = make_affinities(fitted.kernel_, fitted.plan_, fitted._finished.seed)
        return Similarities(fitted.kernel_, joint)
    plan = TSNE(fitted, random_state=0).plan(fitted.X_fit_)
    return Similarities(fitted, make_affinities(fitted, plan, 0)[0])
