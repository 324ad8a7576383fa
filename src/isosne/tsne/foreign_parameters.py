"""Parameters of earlier versions and of other packages, and their equivalents in TSNE."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from isosne._checks import is_number

MOVED = {
    "dof": "objective=KL(dof={value})",
    "neighbors": "affinities=Sparse(neighbors={value})",
    "mesh_accuracy": "forces=Mesh(accuracy={value})",
    "theta": "forces=Tree(theta={value})",
    "landmark_choice": "landmarks=Landmarks(n, choice={value})",
}
"""Parameters of earlier versions, and their replacements."""
ELSEWHERE = {
    "perplexity": "kernel=GaussianKernel(perplexity={value})",
    "n_iter": "schedule=Schedule.annealed(n_iter={value})",
    "max_iter": "schedule=Schedule.annealed(n_iter={value})",
    "n_epochs": "schedule=Schedule.annealed(n_iter={value})",
    "learning_rate": "schedule=Schedule((Phase(..., step={value}),)); the default suits every n",
    "init": "start={value}",
    "initialization": "start={value}",
    "metric": "kernel=OwnerKernel(metric={value})",
    "metric_params": "kernel=OwnerKernel(metric='minkowski', p=...)",
    "early_exaggeration": "schedule=Schedule((Phase(250, exaggeration={value}), Phase(500)))",
    "early_exaggeration_iter": "schedule=Schedule((Phase({value}, exaggeration=12), Phase(500)))",
    "n_iter_without_progress": "schedule='opt_sne', which stops automatically",
    "min_grad_norm": "schedule='opt_sne', which stops automatically",
    "n_neighbors": "kernel=OwnerKernel(cell_size=...), the mean number of points per cell",
    "min_dist": "exaggeration=3, which gives compact clusters",
    "spread": "exaggeration=3, which gives compact clusters",
    "method": "forces='tree' for Barnes-Hut, forces='exact' for all pairs",
    "angle": "forces=Tree(theta={value})",
    "negative_gradient_method": "forces='mesh' for FFT, forces='tree' for Barnes-Hut",
    "callbacks": "callback=function, which is called after each step",
    "seed": "random_state={value}",
}
"""Parameters of scikit-learn's, openTSNE's and UMAP's estimators, and their equivalents here."""
ADAPTED = (
    *("perplexity", "max_iter", "learning_rate", "init", "metric", "metric_params"),
    *("early_exaggeration", "n_iter_without_progress", "min_grad_norm", "method", "angle"),
)
"""Parameters of `isosne.compat.TSNE`."""


def refuse_foreign(cls: type, positional: Sequence[Any], keywords: Mapping[str, Any]) -> None:
    """Raise a TypeError that names the equivalent of a parameter that the class does not have."""
    own = [parameter.name for parameter in _init_parameters(cls)]  # a subclass may have more
    if positional and is_number(positional[0]) and own[0] == "kernel":
        raise TypeError(
            f"The first parameter of {cls.__name__} is the kernel, not the number of dimensions "
            f"as in other packages. Use {cls.__name__}(n_components={positional[0]!r})."
        )
    for name, value in keywords.items():
        if name not in own and (name in MOVED or name in ELSEWHERE):
            wording = (MOVED | ELSEWHERE)[name].format(value=repr(value))
            what = "has moved" if name in MOVED else "is a parameter of other packages"
            other = ""
            if name in ADAPTED:
                other = " isosne.compat.TSNE takes the parameters of scikit-learn."
            raise TypeError(
                f"{cls.__name__} has no parameter {name!r}, which {what}. Use {wording}.{other}"
            )


class InitSignature:
    """The signature of a class, taken from `__init__` although the class has a `__new__`."""

    def __get__(self, instance: object, owner: type) -> inspect.Signature:
        return inspect.Signature(_init_parameters(owner))


def _init_parameters(cls: type) -> list[inspect.Parameter]:
    init = cls.__init__  # type: ignore[misc]  # of this class, not of an instance
    return list(inspect.signature(init).parameters.values())[1:]
