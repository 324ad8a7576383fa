"""What a parameter of another package, or of a kernel, is called here."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

from isosne._checks import is_number
from isosne.errors import find_similar

Init = TypeVar("Init", bound=Callable[..., Any])
LONG = 40
"""Values with a longer representation, such as arrays, are not repeated; chosen."""
_STEPS = "schedule=Schedule.annealed(n_iter={value})"
_STOPS = "schedule='opt_sne', which stops automatically"
_PHASES = "schedule=Schedule((Phase(250, exaggeration=12, step={value}), Phase(500, step={value})))"
_COMPACT = "exaggeration=3 for compact clusters; there is no exact equivalent"
HINTS = {
    "perplexity": "kernel=GaussianKernel(perplexity={value})",
    "n_iter": _STEPS,
    "max_iter": _STEPS,
    "n_epochs": _STEPS,
    "learning_rate": f"{_PHASES}; without it, the step length follows from the number of points",
    "init": "start={value}",
    "initialization": "start={value}",
    "metric": "kernel=OwnerKernel(metric={value})",
    "metric_params": "kernel=OwnerKernel(metric='minkowski', p=...)",
    "p": "kernel=OwnerKernel(metric='minkowski', p={value})",
    "early_exaggeration": "schedule=Schedule((Phase(250, exaggeration={value}), Phase(500)))",
    "early_exaggeration_iter": "schedule=Schedule((Phase({value}, exaggeration=12), Phase(500)))",
    "n_iter_without_progress": _STOPS,
    "min_grad_norm": _STOPS,
    "n_neighbors": "kernel=OwnerKernel(cell_size={value}), the mean number of points per cell",
    "min_dist": _COMPACT,
    "spread": _COMPACT,
    "method": "forces='tree' for Barnes-Hut, or affinities='dense', forces='exact' for all pairs",
    "angle": "forces=Tree(theta={value})",
    "theta": "forces=Tree(theta={value})",
    "negative_gradient_method": "forces='mesh' for FFT, or forces='tree' for Barnes-Hut",
    "callbacks": "callback=function, which is called after each step",
    "random_seed": "random_state={value}",
    "seed": "random_state={value}",
    "dof": "objective=KL(dof={value})",
    "neighbors": "affinities=Sparse(neighbors={value})",
    "psi": "kernel=IsolationKernel(psi={value})",
    "n_partitions": "kernel=IsolationKernel(n_partitions={value})",
    "partition": "kernel=IsolationKernel(partition={value})",
    "cell_size": "kernel=OwnerKernel(cell_size={value})",
}
"""Parameters of scikit-learn, openTSNE, UMAP and of our own kernels: what to pass to `TSNE`."""


def hinting(hints: Mapping[str, str], title: str = "") -> Callable[[Init], Init]:
    """Let a constructor say what to use instead of a parameter that it does not have.

    title: of a function, which has its data as first parameter.
    """

    def decorate(init: Init) -> Init:
        first, *own = inspect.signature(init).parameters

        @wraps(init)
        def checked(*args: Any, **kwargs: Any) -> Any:
            cls = title or type(args[0]).__name__
            if len(args) > 1 and own[0] == "kernel" and is_number(args[1]):
                raise TypeError(
                    f"The first parameter of {cls} is the kernel, not the number of dimensions as "
                    f"in other packages. Use {cls}(n_components={args[1]})."
                )
            others = [
                f"{cls} has no parameter {name!r}. {_hint(name, value, own, hints)}"
                for name, value in kwargs.items()
                if name not in (first, *own)
            ]
            if others:
                raise TypeError(" ".join(others))
            return init(*args, **kwargs)

        return cast(Init, checked)

    return decorate


def _hint(name: str, value: Any, own: list[str], hints: Mapping[str, str]) -> str:
    """Return what to use instead of one parameter."""
    similar = name if name in hints else find_similar(name, [*own, *hints])
    if similar is None:
        return f"Its parameters are {', '.join(own)}."
    if similar in own:
        return f"Did you mean {similar!r}?"
    use = hints[similar].format(value=repr(value) if len(repr(value)) <= LONG else similar)
    return f"Use {use}." if similar == name else f"If {similar!r} is meant, use {use}."
