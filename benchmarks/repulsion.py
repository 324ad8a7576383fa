"""Repulsion on one and the same map: isosne's mesh and tree, openTSNE's mesh and tree.

Each fills the push sum_j w^2 (y_i - y_j) and returns Z, the sum of w; w = 1 / (1 + |y_i - y_j|^2).
Errors are against sums over all pairs in float64. openTSNE returns minus the push over its own Z;
it is turned back, so that the errors of the push and of Z are told apart. Its Fourier method runs
on one thread, as it does in its own fits; trees are built anew in each call, as in fits.
"""

import time
from collections.abc import Callable

import numpy as np

from benchmarks.harness import RESULTS, in_fresh_process, table
from isosne._numba import n_threads, parallel_kernel, prange
from isosne._types import Array
from isosne.layout.mesh import MeshRepulsion

N_POINTS, WIDTH = 70_000, 200.0
SAVED = [f"maps/mnist70k/{key}.npz" for key in ("opentsne", "isosne")]
FEWEST_CALLS, SECONDS = 5, 2.0
"""The best of so many calls counts, or of all that fit into the time."""
Push = Callable[[np.ndarray], tuple[np.ndarray, float]]
"""Takes a map (n, 2) in float64; returns the push (n, 2) and Z."""


def draw_map(n: int) -> tuple[np.ndarray, str]:
    """Return a map of n points: a saved one, or clusters as dense and as wide.

    A part of a saved map is drawn closer together, so that it is as dense as all of it.
    """
    rng = np.random.default_rng(0)
    for name in SAVED:
        if (RESULTS / name).exists():
            with np.load(RESULTS / name) as file:
                Y = file["Y"].astype(np.float64)
            chosen = Y[rng.permutation(len(Y))[:n]]
            return chosen * (len(chosen) / len(Y)) ** 0.5, f"results/{name}"
    width = WIDTH * (n / N_POINTS) ** 0.5
    centers = rng.uniform(-0.4, 0.4, size=(30, 2)) * width
    radii = rng.uniform(0.02, 0.08, size=30) * width
    of_point = rng.integers(30, size=n)
    Y = centers[of_point] + radii[of_point, None] * rng.normal(size=(n, 2))
    return Y, "clusters drawn at random"


@parallel_kernel
def sum_all_pairs(Y: Array, push: Array, sums: Array) -> None:
    """Fill push (n, 2) and sums of w (n,) at the map Y (2, n), all in float64; O(n^2)."""
    for i in prange(Y.shape[1]):
        total = x = y = 0.0
        for j in range(Y.shape[1]):
            dx, dy = Y[0, i] - Y[0, j], Y[1, i] - Y[1, j]
            w = 1.0 / (1.0 + dx * dx + dy * dy)
            total += w
            x += w * w * dx
            y += w * w * dy
        push[i, 0], push[i, 1] = x, y
        sums[i] = total - 1.0  # of itself


def all_pairs(Y: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the exact push and Z."""
    push, sums = np.empty_like(Y), np.empty(len(Y))
    sum_all_pairs(np.ascontiguousarray(Y.T), push, sums)
    return push, float(sums.sum())


class Ours:
    """A repulsion of isosne; a mesh is made once and used again, as in a fit."""

    def __init__(self, repulsion: object) -> None:
        self.repulsion = repulsion

    def __call__(self, Y: np.ndarray) -> tuple[np.ndarray, float]:
        """Push, and turn the result to float64 rows."""
        points = np.empty((2, len(Y)), np.float32)
        points[:] = Y.T
        push = np.empty_like(points)
        Z = self.repulsion.push(points, push)
        return push.T, Z


def tree(theta: float) -> Push:
    """Return isosne's tree."""
    from isosne.layout.tree import TreeRepulsion

    return Ours(TreeRepulsion(2, 1.0, theta))


def opentsne_mesh() -> Push:
    """Return openTSNE's Fourier method with its defaults."""
    from openTSNE import _tsne

    def push(Y: np.ndarray) -> tuple[np.ndarray, float]:
        gradient = np.zeros_like(Y)
        Z = _tsne.estimate_negative_gradient_fft_2d(
            Y, gradient, n_interpolation_points=3, min_num_intervals=50, ints_in_interval=1, dof=1
        )
        return -Z * gradient, Z

    return push


def opentsne_tree(theta: float) -> Push:
    """Return openTSNE's Barnes-Hut method."""
    from openTSNE import _tsne
    from openTSNE.quad_tree import QuadTree

    def push(Y: np.ndarray) -> tuple[np.ndarray, float]:
        gradient = np.zeros_like(Y)
        Z = _tsne.estimate_negative_gradient_bh(
            QuadTree(Y), Y, gradient, theta=theta, dof=1, num_threads=n_threads()
        )
        return -Z * gradient, Z

    return push


def mesh(accuracy: float) -> Callable[[int], Push]:
    """Return isosne's mesh as a fit of n points makes it."""
    return lambda n: Ours(MeshRepulsion(2, 1.0, accuracy))


METHODS: dict[str, Callable[[int], Push]] = {
    "isosne mesh, accuracy 0.05": mesh(0.05),
    "isosne mesh, accuracy 0.03": mesh(0.03),
    "isosne mesh, accuracy 0.01": mesh(0.01),
    "isosne mesh, accuracy 0.003": mesh(0.003),
    "isosne tree, theta 0.5": lambda n: tree(0.5),
    "openTSNE Fourier": lambda n: opentsne_mesh(),
    "openTSNE Barnes-Hut, theta 0.5": lambda n: opentsne_tree(0.5),
}


def best_call(method: Push, Y: np.ndarray) -> float:
    """Return the seconds of the fastest call."""
    taken: list[float] = []
    while len(taken) < FEWEST_CALLS or sum(taken) < SECONDS:
        start = time.perf_counter()
        method(Y)
        taken.append(time.perf_counter() - start)
    return min(taken)


def job(n: int) -> tuple[str, list[tuple[str, list[float] | str]]]:
    """Return the map's origin; the best of some calls and the errors of each method, or why not."""
    Y, source = draw_map(n)
    exact, exact_Z = all_pairs(Y)
    found: list[tuple[str, list[float] | str]] = []
    for name, make in METHODS.items():
        try:
            method = make(n)
        except ImportError as error:
            found.append((name, str(error)))
            continue
        push, Z = method(Y)
        seconds = best_call(method, Y)
        error = np.linalg.norm(push - exact) / np.linalg.norm(exact)
        found.append((name, [seconds, float(error), abs(Z / exact_Z - 1)]))
    return source, found


def run(quick: bool) -> str:
    """Return the table."""
    n = 5000 if quick else N_POINTS
    source, found = in_fresh_process(job, n)
    known = {name: figures[0] for name, figures in found if not isinstance(figures, str)}
    theirs = known.get("openTSNE Fourier")
    rows: list[list[object]] = []
    for name, figures in found:
        if isinstance(figures, str):
            rows.append([name, figures, "", "", ""])
            continue
        seconds, error, Z_error = figures
        ratio = seconds / theirs if theirs else ""
        rows.append([name, f"{1000 * seconds:.1f}", ratio, f"{error:.2g}", f"{Z_error:.2g}"])
    header = ["", "ms a call", "x openTSNE Fourier", "error of the push, RMS", "error of Z"]
    return f"### Repulsion on a map of {n} points ({source})\n\n{table(header, rows)}"
