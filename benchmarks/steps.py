"""Steps 1 and 2, isolation against Gaussian kernel, as n grows (the paper's figure "runtime")."""

import numpy as np

from benchmarks.harness import in_fresh_process, table, timed
from isosne import GaussianKernel, IsolationKernel

PSI, PERPLEXITY = 256, 30.0


def joint_from_counts(counts: np.ndarray) -> np.ndarray:
    """Step 2 on counts: one factor a point; p_ij = counts_ij (s_i + s_j) / 2n (Eq. 3 and 9)."""
    np.fill_diagonal(counts, 0)
    return 1 / counts.sum(axis=1, dtype=np.int64)


def joint_from_rows(K: np.ndarray) -> np.ndarray:
    """Step 2 on similarity rows: normalize, then symmetrize in place (Eq. 2 and 3)."""
    n = len(K)
    np.fill_diagonal(K, 0)
    K /= K.sum(axis=1, keepdims=True, dtype=np.float64).astype(np.float32) * (2 * n)
    for s in range(0, n, 1024):
        for t in range(s, n, 1024):
            upper, lower = K[s : s + 1024, t : t + 1024], K[t : t + 1024, s : s + 1024]
            upper += lower.T.copy() if s == t else lower.T
            if s != t:
                lower[:] = upper.T
    return K


def points(n: int) -> np.ndarray:
    """Return two-dimensional points of uneven density."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 2)) * rng.choice([0.2, 1.0, 5.0], n)[:, None]


def isolation_job(n: int) -> list[float]:
    """Time steps 1 and 2 with counts."""
    X = points(n)
    kernel = IsolationKernel(PSI, random_state=0)
    joint_from_counts(kernel.fit(X[:600]).counts())
    seconds, mb, _ = timed(lambda: joint_from_counts(kernel.fit(X).counts()))
    return [seconds, mb]


def gaussian_job(n: int) -> list[float]:
    """Time steps 1 and 2 with bandwidths by bisection."""
    X = points(n)
    kernel = GaussianKernel(PERPLEXITY)
    joint_from_rows(kernel.fit(X[:600]).rows().block(slice(None))[0])
    seconds, mb, _ = timed(lambda: joint_from_rows(kernel.fit(X).rows().block(slice(None))[0]))
    return [seconds, mb]


def run(quick: bool) -> str:
    """Return the table."""
    sizes = [1000, 2000, 5000] if quick else [1000, 2000, 5000, 10_000, 20_000]
    rows = []
    for n in sizes:
        isolation, isolation_mb = in_fresh_process(isolation_job, n)
        gaussian, gaussian_mb = in_fresh_process(gaussian_job, n)
        rows.append([n, isolation, gaussian, isolation / gaussian, isolation_mb, gaussian_mb])
    growth = [_exponent(sizes, [row[column] for row in rows]) for column in (1, 2)]
    rows.append(["growth, n to the power", *growth, "", "", ""])
    title = f"Steps 1 and 2: 2-d points, isolation psi {PSI} t 200, Gaussian perplexity 30; seconds"
    header = ["n", "isolation", "Gaussian", "ratio", "isolation MB", "Gaussian MB"]
    return f"### {title}\n\n{table(header, rows)}"


def _exponent(sizes: list[int], seconds: list[float]) -> float:
    """Return the growth between the last three sizes."""
    return float(np.polyfit(np.log(sizes[-3:]), np.log(seconds[-3:]), 1)[0])
