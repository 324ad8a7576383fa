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

from isosne._checks import is_number
from isosne.errors import ParameterError, suggest

KL_CODE, NERV_CODE, JSE_CODE = 0, 1, 2
"""Codes of the objectives in compiled functions."""


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
    # Class attributes without annotation are not fields of the dataclass.
    code = KL_CODE
    weight = 0.0
    needs_all_pairs = False

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
    code = NERV_CODE
    needs_all_pairs = True

    def __post_init__(self) -> None:
        _check_share("trade_off", self.trade_off, with_ends=True)
        _check_dof(self.dof)

    @property
    def weight(self) -> float:
        """The parameter, under a name common to all objectives."""
        return float(self.trade_off)


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
    code = JSE_CODE
    needs_all_pairs = True

    def __post_init__(self) -> None:
        _check_share("mixture", self.mixture, with_ends=False)
        _check_dof(self.dof)

    @property
    def weight(self) -> float:
        """The parameter, under a name common to all objectives."""
        return float(self.mixture)


@runtime_checkable
class CustomObjective(Protocol):
    """A user-defined objective: a function of P and Q, and its derivative with respect to Q.

    The optional attribute ``dof`` sets the degrees of freedom of the map similarity.
    """

    def value(self, P: NDArray[np.float64], Q: NDArray[np.float64]) -> float:
        """Return the objective for joint probabilities P and Q, both (n, n) with zero diagonal."""
        ...

    def derivative(self, P: NDArray[np.float64], Q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the derivative of the objective with respect to each q_ij, (n, n)."""
        ...


Mixture = KL | NeRV | JSE
Objective = Mixture | CustomObjective
NAMES: dict[str, type[Mixture]] = {"kl": KL, "nerv": NeRV, "jse": JSE}


def dof_of(objective: Objective) -> float:
    """Return the degrees of freedom of the map similarity."""
    return float(getattr(objective, "dof", 1.0))


def needs_all_pairs(objective: Objective) -> bool:
    """Return whether an objective needs all pairs: every one except KL does."""
    return not isinstance(objective, KL)


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
