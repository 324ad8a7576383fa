"""Parameters that an estimator does not have, and what to use instead.

Those of earlier versions, of kernels and of other packages have equivalents; for other names, the
most similar parameter is suggested.
"""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from isosne._checks import is_number
from isosne.errors import find_similar
from isosne.kernels.base import MetricKernel
from isosne.kernels.registry import KERNELS

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
        shown = show_value(name, value)
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
PREFERRED = ("isolation", "owner", "knn", "adaptive")
"""Kernels to suggest for a parameter that several of them have, in this order; chosen."""
OF_KERNELS = tuple(dict.fromkeys(name for key in PREFERRED for name in KERNELS[key].options))


def refuse_foreign(cls: type, positional: Sequence[Any], keywords: Mapping[str, Any]) -> None:
    """Raise a TypeError that names the equivalents of parameters that the class does not have."""
    own = own_parameters(cls)
    if own is None:
        return
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
    of_kernels = {name: value for name, value in others.items() if name in OF_KERNELS}
    if of_kernels.keys() - foreign.keys():
        foreign = {name: value for name, value in foreign.items() if name not in of_kernels}
        kernel = positional[0] if positional else keywords.get("kernel")
        parts = [_kernel_sentence(cls.__name__, kernel, of_kernels)]
        parts += [f"Instead of {name}: {_advise(name, foreign[name])}." for name in foreign]
        raise TypeError(" ".join(parts))
    if foreign:
        raise TypeError(_sentence(cls.__name__, foreign))
    for name, value in others.items():
        raise TypeError(_misspelled(cls.__name__, name, value, own))


def _misspelled(cls: str, name: str, value: Any, own: Sequence[str]) -> str:
    """Return which parameter may be meant by an unknown name, and its equivalent."""
    similar = find_similar(name, [*own, *ELSEWHERE, *OF_KERNELS])
    if similar is None or similar in own:
        return name_similar(cls, name, own)
    advice = _advise(similar, value) if similar in ELSEWHERE else _use_kernel({similar: value})
    return f"{cls} has no parameter {name!r}. If {similar!r} is meant, {advice}."


def name_similar(cls: str, name: str, own: Sequence[str]) -> str:
    """Return which parameter of a class may be meant by an unknown name; all if none is similar."""
    similar = find_similar(name, own)
    advice = f"Did you mean {similar!r}?" if similar else f"Its parameters are {_listed(own)}."
    return f"{cls} has no parameter {name!r}. {advice}"


def _kernel_sentence(cls: str, kernel: object, given: Mapping[str, Any]) -> str:
    """Return which kernel to pass instead of its parameters."""
    names = _listed([repr(name) for name in given])
    which = f"parameter {names}, which is a parameter of the kernel"
    if len(given) > 1:
        which = f"parameters {names}, which are parameters of the kernel"
    return f"{cls} has no {which}. U{_use_kernel(given, kernel)[1:]}."


def _use_kernel(given: Mapping[str, Any], kernel: object = None) -> str:
    """Return the advice to pass a kernel with parameters, of the given kind if it has them."""
    kernel = kernel if isinstance(kernel, str | MetricKernel) else None  # an array has no truth
    own = [name for name in KERNELS if name == kernel or type(kernel) is KERNELS[name].kind]
    preferred = ("owner",) if given.keys() <= {"metric", "p"} else PREFERRED
    needed = next(name for name in given if name not in ELSEWHERE)
    able = [name for name in (*own, *preferred) if needed in KERNELS[name].options]
    best = max(able, key=lambda name: len(given.keys() & set(KERNELS[name].options)))
    taken = {name: given[name] for name in KERNELS[best].options if name in given}
    if "p" in taken and "metric" not in taken:
        taken = {"metric": "minkowski", **taken}
    words = ", ".join(f"{name}={show_value(name, value)}" for name, value in taken.items())
    left = [name for name in given if name not in taken]
    without = f", which has no {_listed(left)}" if left else ""
    return f"use kernel={KERNELS[best].kind.__name__}({words}){without}"


def _advise(name: str, value: Any) -> str:
    return ELSEWHERE[name].advise(name, value)


def show_value(name: str, value: Any) -> str:
    """Return the repr of a value; the name of its parameter if that is long."""
    return repr(value) if len(repr(value)) <= LONG else name


def _sentence(cls: str, foreign: Mapping[str, Any]) -> str:
    """Return what to do instead of passing some parameters of other packages."""
    advice = {name: _advise(name, value) for name, value in foreign.items()}
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


def own_parameters(cls: type) -> list[str] | None:
    """Return the names of the parameters of a class; None if it takes any, as a subclass may."""
    parameters = _init_parameters(cls)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return [parameter.name for parameter in parameters]


def _init_parameters(cls: type) -> list[inspect.Parameter]:
    init = cls.__init__  # type: ignore[misc]  # of this class, not of an instance
    return list(inspect.signature(init).parameters.values())[1:]
