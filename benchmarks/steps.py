"""Steps 1 and 2, isolation against Gaussian kernel, as n grows (the paper's figure "runtime")."""

import numpy as np

from benchmarks.harness import in_fresh_process, table, timed
from isosne import GaussianKernel, IsolationKernel
from isosne.affinities.dense import dense_affinities

PSI = 256


def points(n: int) -> np.ndarray:
    """Return two-dimensional points of uneven density."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 2)) * rng.choice([0.2, 1.0, 5.0], n)[:, None]


def job(name: str, n: int) -> list[float]:
    """Time both steps with one of the kernels, warm."""
    X = points(n)
    kernel = IsolationKernel(PSI, random_state=0) if name == "isolation" else GaussianKernel(30.0)
    dense_affinities(kernel.fit(X[:600]))
    seconds, mb, _ = timed(lambda: dense_affinities(kernel.fit(X)))
    return [seconds, mb]


def run(quick: bool) -> str:
    """Return the table."""
    sizes = [1000, 2000, 5000] if quick else [1000, 2000, 5000, 10_000, 20_000]
    rows = []
    for n in sizes:
        isolation, isolation_mb = in_fresh_process(job, "isolation", n)
        gaussian, gaussian_mb = in_fresh_process(job, "Gaussian", n)
        rows.append([n, isolation, gaussian, isolation / gaussian, isolation_mb, gaussian_mb])
    growth = [_exponent(sizes, [row[column] for row in rows]) for column in (1, 2)]
    rows.append(["growth, n to the power", *growth, "", "", ""])
    title = f"Steps 1 and 2: 2-d points, isolation psi {PSI} t 200, Gaussian perplexity 30; seconds"
    header = ["n", "isolation", "Gaussian", "ratio", "isolation MB", "Gaussian MB"]
    return f"### {title}\n\n{table(header, rows)}"


def _exponent(sizes: list[int], seconds: list[float]) -> float:
    """Return the growth between the last three sizes."""
    return float(np.polyfit(np.log(sizes[-3:]), np.log(seconds[-3:]), 1)[0])
