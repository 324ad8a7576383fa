"""What step 3 minimizes: KL, and the mixtures NeRV and JSE that the paper names (section 6.1).

P and Q are joint probabilities here. With ``q_ij = w_ij / Z`` every objective has the gradient
``4 sum_j T_ij u_ij (y_i - y_j)``, where ``u = -d log w / d(d^2)`` comes from the map similarity w
and ``-T`` from the objective: a pair's own term less q_ij times the sum of all terms.

Exaggeration e pulls every pair by another (e - 1) p_ij, whatever the objective; P stays as it is.
"""

from dataclasses import dataclass
from numbers import Real

from isosne.errors import ParameterError

KL_CODE, NERV_CODE, JSE_CODE = 0, 1, 2


@dataclass(frozen=True)
class KL:
    """KL(P || Q): what t-SNE minimizes."""

    code = KL_CODE
    weight = 0.0
    needs_all_pairs = False


@dataclass(frozen=True)
class NeRV:
    """trade_off KL(P || Q) + (1 - trade_off) KL(Q || P); trade_off = 1 is KL.

    Small trade-offs punish false neighbors, large ones missing neighbors (Venna et al. 2010).
    """

    trade_off: float = 0.9
    code = NERV_CODE
    needs_all_pairs = True

    def __post_init__(self) -> None:
        _check_share("trade_off", self.trade_off, with_ends=True)

    @property
    def weight(self) -> float:
        """The parameter, under the name that all objectives share."""
        return float(self.trade_off)


@dataclass(frozen=True)
class JSE:
    """KL(P || M) / (1 - mixture) + KL(Q || M) / mixture, M = mixture P + (1 - mixture) Q.

    The limit mixture -> 0 is KL(P || Q) (Lee et al. 2013).
    """

    mixture: float = 0.5
    code = JSE_CODE
    needs_all_pairs = True

    def __post_init__(self) -> None:
        _check_share("mixture", self.mixture, with_ends=False)

    @property
    def weight(self) -> float:
        """The parameter, under the name that all objectives share."""
        return float(self.mixture)


Objective = KL | NeRV | JSE


def _check_share(name: str, value: float, *, with_ends: bool) -> None:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not (0 <= value <= 1 if with_ends else 0 < value < 1):
        span = "from 0 to 1" if with_ends else "between 0 and 1, both left out"
        raise ParameterError(
            f"{name} must be a number {span}; got {name}={value!r}. Choose a value in that range."
        )


def as_objective(objective: object) -> Objective:
    """Return the objective that a name stands for; objects pass."""
    named: dict[object, Objective] = {"kl": KL(), "nerv": NeRV(), "jse": JSE()}
    if isinstance(objective, (KL, NeRV, JSE)):
        return objective
    if isinstance(objective, str) and objective in named:
        return named[objective]
    raise ParameterError(
        f"objective must be 'kl', 'nerv', 'jse' or an object KL, NeRV, JSE; got {objective!r}. "
        "Pass NeRV(trade_off=...) or JSE(mixture=...) to set the mixture."
    )
