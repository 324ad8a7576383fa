"""The settings of a map that the page offers: as an estimator, and as options of `isosne embed`."""

import shlex
from dataclasses import asdict, dataclass
from typing import Any

from isosne._types import Array
from isosne.kernels.registry import KERNELS, make_kernel, parse_numbers
from isosne.layout.schedules import Schedule
from isosne.tsne.estimator import TSNE

CHOICES = ("owner", "isolation", "gaussian", "adaptive", "knn")
"""Kernels that the page offers."""
DEFAULT_STEPS = 500
"""Steps of the schedule "annealed"."""


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
            numbers = parse_numbers(self.parameter, self.size.replace(" ", ""))
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


def command(words: tuple[str, ...], settings: Settings) -> str:
    """Return the command line that makes a map of a table, as it is typed."""
    return shlex.join(["isosne", "embed", *words, *settings.options(), "-o", "map.parquet"])
