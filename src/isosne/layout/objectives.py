"""Objectives of step 3: KL, and the mixtures NeRV and JSE that the paper names (section 6.1).

P and Q are joint probabilities: ``q_ij = w_ij / Z``, where w is Student's t with ``dof`` degrees of
freedom. Every objective has the gradient ``4 sum_j T_ij u_ij (y_i - y_j)``, where
``u = -d log w / d(d^2)`` depends on the map similarity and T on the objective.

Exaggeration e adds the attraction (e - 1) p_ij to every pair, for any objective; P is not changed.
A user-defined objective is any object with ``value(P, Q)`` and ``derivative(P, Q)``.
"""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from isosne import _portable
from isosne._checks import is_number
from isosne._lanes import Vector, exp, log, splat
from isosne._numba import kernel
from isosne._portable import each_exp, each_power, log1p
from isosne._types import Array, Scalar
from isosne.errors import ParameterError, suggest


@dataclass(frozen=True)
class KL:
    """KL(P || Q), the objective of t-SNE.

    Parameters
    ----------
    dof : float, default=1.0
        Degrees of freedom of the map similarity. Values below 1 show finer clusters; infinity is a
        Gaussian (symmetric SNE).

    Examples
    --------
    >>> from isosne import KL, TSNE
    >>> TSNE(objective=KL(dof=0.5))
    TSNE(objective=KL(dof=0.5))
    """

    dof: float = 1.0

    def __post_init__(self) -> None:
        _check_dof(self.dof)


@dataclass(frozen=True)
class NeRV:
    """trade_off KL(P || Q) + (1 - trade_off) KL(Q || P) (Venna et al. 2010).

    Parameters
    ----------
    trade_off : float, default=0.9
        From 0 to 1. Small values penalize false neighbors, large values missing neighbors; 1 is KL.
    dof : float, default=1.0
        Degrees of freedom of the map similarity.

    Notes
    -----
    Departures from the original: P and Q are joint probabilities, the map similarity is Student's
    t, and a zero p counts as 1/1000 of the mean p. Needs dense affinities.

    Examples
    --------
    >>> from isosne import TSNE, NeRV
    >>> TSNE("gaussian", objective=NeRV(trade_off=0.5)).objective
    NeRV(trade_off=0.5, dof=1.0)
    """

    trade_off: float = 0.9
    dof: float = 1.0

    def __post_init__(self) -> None:
        _check_share("trade_off", self.trade_off, with_ends=True)
        _check_dof(self.dof)


@dataclass(frozen=True)
class JSE:
    """KL(P || M) / (1 - mixture) + KL(Q || M) / mixture, M = mixture P + (1 - mixture) Q.

    Parameters
    ----------
    mixture : float, default=0.5
        Between 0 and 1, exclusive. The limit 0 is KL(P || Q) (Lee et al. 2013).
    dof : float, default=1.0
        Degrees of freedom of the map similarity.

    Notes
    -----
    Departures from the original: P and Q are joint probabilities, and the map similarity is
    Student's t. Needs dense affinities.

    Examples
    --------
    >>> from isosne import JSE, TSNE
    >>> TSNE("gaussian", objective=JSE(mixture=0.8)).objective
    JSE(mixture=0.8, dof=1.0)
    """

    mixture: float = 0.5
    dof: float = 1.0

    def __post_init__(self) -> None:
        _check_share("mixture", self.mixture, with_ends=False)
        _check_dof(self.dof)


@runtime_checkable
class CustomObjective(Protocol):
    """A user-defined objective: a function of P and Q (n, n), and its derivative by each q_ij.

    The optional attribute ``dof`` sets the degrees of freedom of the map similarity.
    """

    def value(self, P: NDArray[np.float64], Q: NDArray[np.float64]) -> float: ...
    def derivative(self, P: NDArray[np.float64], Q: NDArray[np.float64]) -> NDArray[np.float64]: ...


Mixture = KL | NeRV | JSE
Objective = Mixture | CustomObjective
NAMES: dict[str, type[Mixture]] = {"kl": KL, "nerv": NeRV, "jse": JSE}


def dof_of(objective: Objective) -> float:
    """Return the degrees of freedom of the map similarity."""
    dof = float(getattr(objective, "dof", 1.0))
    return dof if dof <= float(np.finfo(np.float32).max) else np.inf  # maps are float32


def as_objective(objective: object) -> Objective:
    """Return the objective for a name or an object."""
    if isinstance(objective, str) and objective in NAMES:
        return NAMES[objective]()
    if isinstance(objective, KL | NeRV | JSE):
        return objective
    if isinstance(objective, CustomObjective) and not isinstance(objective, type):
        _check_dof(getattr(objective, "dof", 1.0))
        return objective
    raise ParameterError(
        "objective",
        "be 'kl', 'nerv', 'jse', an object KL, NeRV or JSE, or one with the methods value(P, Q) "
        "and derivative(P, Q)",
        objective,
        suggest(objective, NAMES, "Pass for example NeRV(trade_off=0.8)."),
    )


def _check_dof(dof: Any) -> None:
    if not is_number(dof) or not dof > 0:
        raise ParameterError("dof", "be a number above 0", dof, "1 is the usual Student's t.")


def _check_share(name: str, value: Any, *, with_ends: bool) -> None:
    if not is_number(value) or not (0 <= value <= 1 if with_ends else 0 < value < 1):
        span = "from 0 to 1" if with_ends else "between 0 and 1, exclusive"
        raise ParameterError(name, f"be a number {span}", value, "Choose a value in that range.")


def similarity_at(sq_dist: Array, dof: float) -> Array:
    """Return w at squared distances, in float64."""
    if np.isinf(dof):
        return each_exp(-sq_dist)
    if dof == 1:
        return np.asarray(1 / (1 + sq_dist))
    return each_power(1 + sq_dist / dof, -(dof + 1) / 2)


@kernel
def map_similarity(sq_dist: Vector, dof: Scalar) -> tuple[Vector, Vector]:
    """Return w and u = -d log w / d(d^2) of pairs at squared distances on the map.

    w = (1 + d^2 / dof)^(-(dof + 1) / 2), Student's t; exp(-d^2) for dof = infinity.
    """
    if dof == 1:  # the usual case, without a power; then u = w
        w = 1 / (1 + sq_dist)
        return w, w
    if dof == np.inf:
        return exp(0 - sq_dist), splat(1)
    base = 1 + sq_dist / dof
    half = (dof + 1) / 2
    return exp(log(base) * -half), half / dof / base  # u = (dof + 1) / 2 / (dof + d^2)


@kernel
def pair_similarity(sq_dist: Scalar, dof: Scalar) -> tuple[Scalar, Scalar]:
    """Return w and u of a single pair, in float64."""
    if dof == np.inf:
        return _portable.exp(-sq_dist), 1.0
    base = 1.0 + np.float64(sq_dist) / dof
    half = (dof + 1.0) / 2.0
    w = 1.0 / base if dof == 1 else _portable.power(base, -half)
    return w, half / dof / base


@kernel
def minus_log_similarity(sq_dist: Vector, dof: Scalar) -> Vector:
    """Return -log w."""
    if dof == np.inf:
        return sq_dist
    return (dof + 1) / 2 * log(1 + sq_dist / dof)


@kernel
def mixture_pull(p: Scalar, q: Scalar, is_jse: bool, weight: float, floor: float) -> Scalar:
    """Return -q dC/dq, the attraction of a pair for NeRV or JSE before Q is normalized."""
    if is_jse:
        return q * log1p(weight * (p / q - 1)) / weight
    return weight * p - (1 - weight) * q * (_portable.log(q / max(p, floor)) + 1)


@kernel
def mixture_value(p: Scalar, q: Scalar, is_jse: bool, weight: float, floor: float) -> Scalar:
    """Return the term of a pair in NeRV or JSE."""
    if is_jse:
        mixed = weight * p + (1 - weight) * q
        forward = p * _portable.log(p / mixed) / (1 - weight) if p > 0 else 0.0
        return forward - q * log1p(weight * (p / q - 1)) / weight
    forward = p * _portable.log(p / q) if p > 0 else 0.0
    return weight * forward + (1 - weight) * q * _portable.log(q / max(p, floor))
