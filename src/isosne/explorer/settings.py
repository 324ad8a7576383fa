"""The settings of a map that the page offers: as an estimator, and as options of `isosne embed`."""

import shlex
from dataclasses import asdict, dataclass
from typing import Any, Self

from isosne._types import Array
from isosne.kernels.registry import KERNELS, make_kernel, parse_numbers
from isosne.layout.objectives import as_objective
from isosne.layout.schedules import Schedule, as_schedule
from isosne.tsne.estimator import TSNE

CHOICES = ("owner", "isolation", "gaussian", "adaptive", "knn")
"""Kernels that the page offers."""
DEFAULT_STEPS = 500
"""Steps of the schedule "annealed"."""
WITHOUT_EFFECT = ("callback", "memory_limit", "n_jobs", "verbose")
"""Parameters of an estimator that do not change its map."""


@dataclass(frozen=True)
class Settings:
    """Settings of a map.

    ``size`` is the main parameter of the kernel as text, such as "16" or "8,64": psi, cell_size,
    perplexity or k. Empty: its default. ``metric`` and ``p`` are the distance between rows.

    Examples
    --------
    >>> from isosne.explorer.settings import Settings
    >>> Settings("isolation", size="16", seed=3).options()
    ['--kernel', 'isolation', '--psi', '16', '--seed', '3']
    """

    kernel: str = "owner"
    size: str = ""
    exaggeration: float | None = None
    seed: int = 0
    n_iter: int = DEFAULT_STEPS
    metric: str = "euclidean"
    p: float = 2.0

    @classmethod
    def of(cls, model: TSNE) -> Self | None:
        """Return the settings of an estimator; None if the page does not offer its kernel."""
        kernel = _as_object(model.kernel)
        names = [name for name in CHOICES if type(kernel) is KERNELS[name].kind]
        if not names:
            return None
        size = kernel.get_params()[KERNELS[names[0]].main_parameter]
        return cls(
            names[0],
            "" if size in (None, "auto") else _as_text(size),
            model.exaggeration,
            model.random_state if isinstance(model.random_state, int) else 0,
            as_schedule(model.schedule).n_iter,
            kernel.metric,
            kernel.p,
        )

    def is_complete_for(self, model: TSNE) -> bool:
        """Whether an estimator with these settings makes the map of another estimator."""
        return _parameters(self.make_model()) == _parameters(model)

    @property
    def title(self) -> str:
        """Name of the map, such as "Isolation kernel, psi 16"."""
        size = f", {self.parameter.replace('_', ' ')} {self.size}" if self.size else ""
        return f"{self.kernel.capitalize()} kernel{size}"

    @property
    def parameter(self) -> str:
        """Name of the main parameter of the kernel."""
        return KERNELS[self.kernel].main_parameter

    def options(self) -> list[str]:
        """Return the options of `isosne embed` that differ from their defaults."""
        plain, words = Settings(), []
        named = {
            "--kernel": (self.kernel, plain.kernel),
            f"--{self.parameter.replace('_', '-')}": (self.size.replace(" ", ""), ""),
            "--metric": (self.metric, plain.metric),
            "--p": (self.p, plain.p),
            "--exaggeration": (self.exaggeration, None),
            "--n-iter": (self.n_iter, plain.n_iter),
            "--seed": (self.seed, plain.seed),
        }
        for option, (value, default) in named.items():
            if value != default:
                words += [option, f"{value:g}" if isinstance(value, float) else str(value)]
        return words

    def make_model(self, start: Array | None = None) -> TSNE:
        """Return an estimator with these settings, which may start from a map."""
        given: dict[str, Any] = {}
        if self.size.strip():
            text = self.size.replace(" ", "").removeprefix(f"{self.parameter}=").strip("[]()")
            numbers = parse_numbers(self.parameter, text)
            given[self.parameter] = numbers[0] if len(numbers) == 1 else numbers
        if self.metric != "euclidean":
            given |= {"metric": self.metric, "p": self.p}
        return TSNE(
            make_kernel(self.kernel, given) if given else self.kernel,
            schedule=Schedule.annealed(n_iter=self.n_iter),
            exaggeration=self.exaggeration,
            start="auto" if start is None else start,
            random_state=self.seed,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the settings by name."""
        return asdict(self)


def _as_object(kernel: Any) -> Any:
    return make_kernel(kernel, {}) if kernel in CHOICES else kernel


def _as_text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _parameters(model: TSNE) -> dict[str, str]:
    """Return all that determines a map, in a form that can be compared."""
    given = model.get_params(deep=False)
    kernel = _as_object(given.pop("kernel"))
    given["kernel"] = type(kernel)
    given["schedule"] = as_schedule(given["schedule"])
    given["objective"] = as_objective(given["objective"])
    for name, value in kernel.get_params().items():
        given[f"kernel {name}"] = list(value) if isinstance(value, tuple) else value
    return {name: repr(value) for name, value in given.items() if name not in WITHOUT_EFFECT}


def command(words: tuple[str, ...], settings: Settings, output: str) -> str:
    """Return the command line that writes a map of a table to a file, as it is typed."""
    return shlex.join(["isosne", "embed", *words, *settings.options(), "-o", output])
