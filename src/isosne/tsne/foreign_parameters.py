"""Parameters of earlier versions and of other packages, and their equivalents in TSNE."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from isosne._checks import is_number

MOVED = {
    "dof": "objective=KL(dof={value})",
    "neighbors": "affinities=Sparse(neighbors={value})",
    "mesh_accuracy": "forces=Mesh(accuracy={value})",
    "theta": "forces=Tree(theta={value})",
    "landmark_choice": "landmarks=Landmarks(n, choice={value})",
}
"""Parameters of earlier versions, and their replacements."""
SKLEARN, OPENTSNE, UMAP = "scikit-learn", "openTSNE", "UMAP"
LONG = 40
"""Values with a longer representation, such as arrays, are not repeated; chosen."""


class Foreign(NamedTuple):
    """A parameter of other packages, and what to do here; ``by_value`` for some values."""

    packages: tuple[str, ...]
    advice: str
    by_value: Mapping[str, str] = {}

    def advise(self, name: str, value: Any) -> str:
        """Return what to do instead of passing this value."""
        shown = repr(value) if len(repr(value)) <= LONG else name
        norm = value.get("p", "...") if isinstance(value, Mapping) else "..."
        advice = self.by_value.get(value, self.advice) if isinstance(value, str) else self.advice
        return advice.format(value=shown, norm=norm)


_STEPS = "use schedule=Schedule.annealed(n_iter={value})"
_STOPS = "use schedule='opt_sne', which stops automatically"
_AUTO = "leave it out: the step length is chosen by the number of points"
_PHASES = "schedule=Schedule((Phase(250, exaggeration=12, step={value}), Phase(500, step={value})))"
_COMPACT = "use exaggeration=3 for compact clusters; there is no exact equivalent"
_CELLS = "with {value} points per cell on average; the default combines small and large cells"
ELSEWHERE = {
    "perplexity": Foreign((SKLEARN, OPENTSNE), "use kernel=GaussianKernel(perplexity={value})"),
    "n_iter": Foreign((OPENTSNE, "scikit-learn before 1.7"), _STEPS),
    "max_iter": Foreign((SKLEARN,), _STEPS),
    "n_epochs": Foreign((UMAP,), _STEPS),
    "learning_rate": Foreign(
        (SKLEARN, OPENTSNE, UMAP), f"{_AUTO}. To set it, use {_PHASES}", {"auto": _AUTO}
    ),
    "init": Foreign((SKLEARN, UMAP), "use start={value}"),
    "initialization": Foreign((OPENTSNE,), "use start={value}"),
    "metric": Foreign((SKLEARN, OPENTSNE, UMAP), "use kernel=OwnerKernel(metric={value})"),
    "metric_params": Foreign(
        (SKLEARN, OPENTSNE), "use kernel=OwnerKernel(metric='minkowski', p={norm})"
    ),
    "early_exaggeration": Foreign(
        (SKLEARN, OPENTSNE), "use schedule=Schedule((Phase(250, exaggeration={value}), Phase(500)))"
    ),
    "early_exaggeration_iter": Foreign(
        (OPENTSNE,), "use schedule=Schedule((Phase({value}, exaggeration=12), Phase(500)))"
    ),
    "n_iter_without_progress": Foreign((SKLEARN,), _STOPS),
    "min_grad_norm": Foreign((SKLEARN, OPENTSNE), _STOPS),
    "n_neighbors": Foreign((UMAP,), f"use kernel=OwnerKernel(cell_size={{value}}), {_CELLS}"),
    "min_dist": Foreign((UMAP,), _COMPACT),
    "spread": Foreign((UMAP,), _COMPACT),
    "method": Foreign(
        (SKLEARN,),
        "use forces='tree' for Barnes-Hut, or affinities='dense', forces='exact' for all pairs",
        {"barnes_hut": "use forces='tree'", "exact": "use affinities='dense', forces='exact'"},
    ),
    "angle": Foreign((SKLEARN,), "use forces=Tree(theta={value})"),
    "negative_gradient_method": Foreign(
        (OPENTSNE,),
        "use forces='mesh' for FFT, or forces='tree' for Barnes-Hut",
        {"fft": "use forces='mesh'", "bh": "use forces='tree'"},
    ),
    "callbacks": Foreign((OPENTSNE,), "use callback=function, which is called after each step"),
    "random_seed": Foreign((), "use random_state={value}"),
    "seed": Foreign((), "use random_state={value}"),
}
"""Parameters of the estimators of other packages, and their equivalents here."""
ADAPTED = (
    *("perplexity", "max_iter", "learning_rate", "init", "metric", "metric_params"),
    *("early_exaggeration", "n_iter_without_progress", "min_grad_norm", "method", "angle"),
)
"""Parameters of `isosne.compat.TSNE`."""


def refuse_foreign(cls: type, positional: Sequence[Any], keywords: Mapping[str, Any]) -> None:
    """Raise a TypeError that names the equivalents of parameters that the class does not have."""
    own = [parameter.name for parameter in _init_parameters(cls)]  # a subclass may have more
    if positional and is_number(positional[0]) and own[0] == "kernel":
        raise TypeError(
            f"The first parameter of {cls.__name__} is the kernel, not the number of dimensions "
            f"as in other packages. Use {cls.__name__}(n_components={int(positional[0])})."
        )
    others = {name: value for name, value in keywords.items() if name not in own}
    for name in others.keys() & MOVED.keys():
        now = MOVED[name].format(value=repr(others[name]))
        raise TypeError(f"{cls.__name__} has no parameter {name!r}, which has moved. Use {now}.")
    foreign = {name: value for name, value in others.items() if name in ELSEWHERE}
    if foreign:
        raise TypeError(_sentence(cls.__name__, foreign))


def _sentence(cls: str, foreign: Mapping[str, Any]) -> str:
    """Return what to do instead of passing some parameters of other packages."""
    advice = {name: ELSEWHERE[name].advise(name, value) for name, value in foreign.items()}
    if len(advice) == 1:
        ((name, here),) = advice.items()
        whose = _listed(ELSEWHERE[name].packages or ("other packages",))
        parts = [f"{cls} has no parameter {name!r}, which is a parameter of {whose}."]
        parts += [f"{here[0].upper()}{here[1:]}."]
    else:
        names = _listed([repr(name) for name in advice])
        parts = [f"{cls} has no parameters {names}, which are parameters of other packages."]
        parts += [f"Instead of {name}: {here}." for name, here in advice.items()]
    if advice.keys() <= set(ADAPTED):
        parts.append("Or use isosne.compat.TSNE, which has the parameters of scikit-learn.")
    return " ".join(parts)


def _listed(words: Sequence[str]) -> str:
    """Return "a", "a and b", or "a, b and c"."""
    return " and ".join([*([", ".join(words[:-1])] if words[:-1] else []), words[-1]])


class InitSignature:
    """The signature of a class, taken from `__init__` although the class has a `__new__`."""

    def __get__(self, instance: object, owner: type) -> inspect.Signature:
        return inspect.Signature(_init_parameters(owner))


def _init_parameters(cls: type) -> list[inspect.Parameter]:
    init = cls.__init__  # type: ignore[misc]  # of this class, not of an instance
    return list(inspect.signature(init).parameters.values())[1:]
