"""Memory of a fit: an upper bound for each form of the affinities, and the limit."""

import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import psutil

from isosne.affinities.dense import BLOCK_BYTES, MIRROR
from isosne.affinities.sampled import BLOCK_ROWS, N_DRAWS
from isosne.errors import ParameterError, keyword
from isosne.kernels.base import ROWS, KernelCosts
from isosne.kernels.monte_carlo import SCAN_COLUMNS, SCAN_ROWS
from isosne.layout.eigenvectors import BLOCK, DEPTH, EXTRA, LARGEST_MATRIX
from isosne.layout.forces import ARRANGE_FROM, Mesh, Method, Tree
from isosne.layout.mesh import MAX_NODES, N_CHUNKS, PADDING, expected_nodes
from isosne.layout.splines import CHUNK_POINTS
from isosne.neighbors.metric import Metric
from isosne.neighbors.search import (
    PointsSize,
    block_bytes,
    clusters_bytes,
    exact_bytes,
    gathered_bytes,
    packed_bytes,
    set_bytes,
)

LIMIT_VARIABLE = "ISOSNE_MEMORY_LIMIT"
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def memory_available(limit: Any = None) -> int:
    """Return the number of bytes that may be used: free memory, or the limit if it is lower.

    limit: a number of bytes, a string such as "1.5GB", or None for the environment variable
    ISOSNE_MEMORY_LIMIT.
    """
    free = int(psutil.virtual_memory().available)
    source = "memory_limit"
    if limit is None and os.environ.get(LIMIT_VARIABLE):
        limit, source = os.environ[LIMIT_VARIABLE], LIMIT_VARIABLE
    return free if limit is None else min(free, _as_bytes(limit, source))


def _as_bytes(limit: Any, source: str) -> int:
    text = str(limit).strip().lower()
    match = re.fullmatch(r"(\d+(?:\.\d+)?(?:e\+?\d+)?)\s*([kmgt]?)i?b?", text)
    if isinstance(limit, bool) or match is None or float(match[1]) <= 0:
        raise ParameterError(
            source,
            "be a number of bytes or a size such as '1.5GB'",
            limit,
            "Leave it out to use the memory that is free.",
        )
    return int(float(match[1]) * UNITS[match[2]])


def size(n_bytes: int) -> str:
    """Return a number of bytes as text with three digits and a unit."""
    value = float(n_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} TB"


KEPT_SHARE = 0.1
"""Share of the memory of step 2 that stays with the process after it was freed (measured)."""
STATE_BYTES = 200
"""Bytes per point of coordinates, updates, gains and gradients with their copies (estimated)."""
MUTUAL = 1.6
"""Pairs with a probability per entry of the partner lists: 1 if two points always list each other,
2 if they never do (measured: 1.4 to 1.75)."""
NODE_BYTES = 11
"""Bytes per node of the padded mesh: transforms and field (measured)."""
TREE_BYTES = 170
"""Bytes per point of the Barnes-Hut tree: codes, nodes, leaves, forces (measured: 124 to 229)."""
KRYLOV_BYTES = 280
"""Bytes per entry of an eigenvector, for each vector of a block: two bases of ten blocks, and their
copies (measured)."""
SPECTRAL_BYTES = {"dense": 8, "sparse": 16, "sampled": 22}
"""Bytes per pair of a spectral start: a float64 matrix, dense or CSR, and of sampled pairs the
matrix that is symmetrized (measured)."""
AXES_BYTES = 100
"""Bytes per point of the initial coordinates: axes, noise and their parts (estimated)."""
GRAPH_BYTES, GRAPH_KEPT = {"dense": 12, "sparse": 81}, 0.7
"""Bytes per pair or stored entry while precomputed affinities are symmetrized, and the share of the
sparse ones that stays with the process (measured)."""
CHECKED_BYTES, CHECKED_KEPT = 97, 0.4
"""Bytes per entry of a sparse matrix of distances while its symmetry is checked, and the share that
stays with the process (measured)."""


class InputSize(NamedTuple):
    """Sizes of the input that the plan depends on."""

    n_points: int
    """Number of points to map."""
    n_features: int
    value_bytes: int = 8
    """Bytes of a coordinate in the working type of the search: 4 or 8."""
    is_ready: bool = True
    """Whether the search compares the points as they are, without a converted copy."""
    is_sparse: bool = False
    n_entries: int = 0
    """Number of stored entries of the points, if they are sparse."""
    row_bytes: int = 0
    """Bytes per row that `fit` reads or copies into memory; 0 if the points are in memory."""
    n_rows: int | None = None
    """Number of rows of the input, if landmarks are mapped."""
    n_pool: int | None = None
    """Number of rows in the pool that landmarks are drawn from, or would be drawn from."""
    table_bytes: int = 0
    """Bytes of a table with mixed columns, besides the codes of its rows: trees and coordinates."""

    @property
    def points(self) -> PointsSize:
        """Sizes of the points to map."""
        entries = self.n_entries if self.is_sparse else None
        sizes = self.n_points, self.n_features, self.value_bytes, self.is_ready
        return PointsSize(*sizes, entries)

    def copied(self, n: int) -> PointsSize:
        """Return the sizes of copies of n rows."""
        entries = self.n_entries * n // self.n_points if self.is_sparse else None
        return self.points._replace(n_points=n, is_ready=False, n_entries=entries)

    @property
    def n_seen(self) -> int:
        """Number of points that the kernel samples from."""
        return self.n_points if self.n_rows is None else self.n_pool or self.n_points

    @property
    def bytes_read(self) -> int:
        """Bytes of the points, if they are read into memory."""
        return self.n_points * self.row_bytes

    @property
    def bytes_of_pool(self) -> int:
        """Bytes of the pool, if landmarks are mapped."""
        return 0 if self.n_rows is None else (self.n_pool or 0) * self.row_bytes

    def fewer(self, n_points: int) -> "InputSize":
        """Return the sizes for fewer points; of rows that are read, these are landmarks."""
        entries = self.n_entries * n_points // self.n_points
        own = self._replace(n_points=n_points, n_entries=entries)
        if not self.row_bytes:
            return own
        n_rows = self.n_rows or self.n_points
        return own._replace(n_rows=n_rows, n_pool=max(self.n_pool or 0, n_points))


@dataclass(frozen=True)
class Costs:
    """The memory of a fit, and the sizes and choices that it depends on."""

    given: InputSize
    kernel: KernelCosts
    metric: Metric
    start: str
    """"pca", "spectral", or a start that needs no memory."""
    n_components: int
    forces: Method
    """Repulsive forces if affinities are not dense."""
    is_approximate: bool
    """Whether neighbors are found by the approximate search."""
    dof: float
    """Degrees of freedom of the map similarity, on which the spacing of a mesh depends."""
    n_iter: int
    n_threads: int
    is_graph: bool = False
    """Whether the input consists of affinities, not of points."""

    @property
    def n_neighbors(self) -> int:
        """Number of neighbors per point to find, if affinities are sparse."""
        return min(self.kernel.n_relevant, self.given.n_points - 1)

    @property
    def n_partners(self) -> int:
        """Number of neighbors per point with a probability, if affinities are sparse."""
        return min(self.kernel.n_partners, self.given.n_points - 1)

    @cached_property
    def bytes(self) -> dict[str, int]:
        """Peak memory for each form of the affinities that the kernel allows."""
        if self.is_graph:
            return _graph(self)
        found = {"dense": _dense(self)}
        if self.kernel.n_relevant:
            found["sparse"] = _sparse(self)
        if self.kernel.cell_bytes:
            found["sampled"] = _sampled(self)
        return found


def _graph(work: Costs) -> dict[str, int]:
    """Return the peak memory of precomputed affinities, as dense and, if they are, as sparse."""
    given, n = work.given, work.given.n_points
    pairs = n**2 * (GRAPH_BYTES["dense"] + (8 if given.is_sparse else 0))
    found = {"dense": max(pairs, 4 * n**2 + _all_pairs_bytes(work))}
    if given.is_sparse:
        symmetrizing = GRAPH_BYTES["sparse"] * given.n_entries
        # Each entry is a pair in both directions.
        listed = _listed_bytes(work, 2 * given.n_entries)
        found["sparse"] = max(symmetrizing, listed + round(GRAPH_KEPT * symmetrizing))
    return {name: given.bytes_read + needed for name, needed in found.items()}


def _dense(work: Costs) -> int:
    n, kernel = work.given.n_points, work.kernel
    pairs = n**2 * kernel.pair_bytes
    affinities = _described_bytes(work) + pairs + _rows_bytes(work)
    of_thread = 4 * min(n, MIRROR) ** 2  # a tile, while the matrix is made symmetric
    if kernel.compares_squares:
        of_thread = max(of_thread, 8 * ROWS * n)
    return _after_fit(work, of_thread, affinities, pairs + _all_pairs_bytes(work))


def _rows_bytes(work: Costs) -> int:
    """Return the bytes of a block of dense rows."""
    n, kernel = work.given.n_points, work.kernel
    if kernel.n_partitions and kernel.n_scales == 1:
        return 0  # counts are computed in place
    layers = min(BLOCK_BYTES, 4 * n**2 * kernel.n_scales)
    counts = layers // 2 if kernel.n_partitions else 0  # a list of arrays, and an array of all
    mean = layers // kernel.n_scales if kernel.n_scales > 1 else 0
    return layers + max(counts, mean)


def _sparse(work: Costs) -> int:
    n, kernel = work.given.n_points, work.kernel
    k, q = work.n_neighbors, work.n_partners + kernel.n_far
    lists, n_pairs = 8 * n * k, round(n * q * MUTUAL)
    points = work.given.points
    finding = set_bytes(points, work.metric)
    of_thread = block_bytes(points, work.metric, k)
    if work.is_approximate:
        finding, of_thread = clusters_bytes(points, k), of_thread + gathered_bytes(points)
    n_layers = 1 if kernel.needs_lists_only else kernel.n_scales
    layers = 4 * n * q * (n_layers + (n_layers > 1))  # and their mean
    # Closed form: lists with the points themselves (4 bytes) and masks; otherwise cells and counts.
    described = n * (kernel.cell_bytes + q * kernel.n_scales if kernel.n_partitions else 7 * k)
    symmetrizing = 12 * n * q + 8 * n_pairs
    with_lists = lists + max(finding, layers + described, symmetrizing)
    return _after_fit(work, of_thread, with_lists, _listed_bytes(work, n_pairs))


def _sampled(work: Costs) -> int:
    n, kernel = work.given.n_points, work.kernel
    members = 4 * n * kernel.n_partitions * kernel.n_scales + 8 * kernel.n_draws
    draws = 3 * 8 * n * N_DRAWS  # that of the objective, the last, and the next
    # Broad kernels, which are sampled, draw a map together (measured: to a third of its width).
    layout = _layout_bytes(work, width=0.5 * n**0.5)
    last = max(_start_bytes(work, "sampled", 2 * n * N_DRAWS), draws + layout)
    of_thread = 8 * BLOCK_ROWS * N_DRAWS  # the random numbers of a block
    cells = n * kernel.cell_bytes + members
    return _after_fit(work, of_thread, cells, cells + last)


def _after_fit(work: Costs, of_thread: int, step_2: int, last: int) -> int:
    """Return the peak of step 2, and of the start and step 3, with what the kernel's fit left.

    of_thread: bytes that each thread uses at a time. Memory that was freed does not all return to
    the system: that of the threads is counted to the end, and a share of that of step 2.
    """
    given, kernel = work.given, work.kernel
    is_stored = given.is_sparse and work.metric.name == "precomputed"
    checking = CHECKED_BYTES * given.n_entries if is_stored else 0
    drawing = given.bytes_read + given.bytes_of_pool + checking
    held = given.bytes_read + (given.bytes_of_pool if kernel.psis else 0) + kernel.drawn_bytes
    held += given.table_bytes
    held += round(CHECKED_KEPT * checking)
    finding_cells = 0
    n_sampled = kernel.n_sampled(given.n_seen)
    if n_sampled:
        held += set_bytes(given.copied(n_sampled), work.metric)
        n_columns = n_sampled // kernel.n_scales
        of_thread = max(of_thread, _scan_bytes(work, n_columns, given.value_bytes))
        finding_cells = given.n_points * kernel.cell_bytes
        if n_columns > SCAN_COLUMNS:  # sampled points are copied in groups
            finding_cells += set_bytes(given.copied(SCAN_COLUMNS), work.metric)
    largest = max(finding_cells, step_2, last + round(KEPT_SHARE * step_2))
    return max(drawing, held + largest + work.n_threads * of_thread)


def _described_bytes(work: Costs) -> int:
    """Return the bytes that dense rows are computed from: points, cells, or ranks."""
    n, kernel = work.given.n_points, work.kernel
    if kernel.compares_squares:  # in float64
        points = work.given.points
        is_ready = points.is_ready and points.value_bytes == 8
        return exact_bytes(points._replace(value_bytes=8, is_ready=is_ready), work.metric)
    if kernel.n_partitions:
        members = 4 * n * kernel.n_partitions * kernel.n_scales
        return n * kernel.cell_bytes + members + 16 * kernel.n_draws
    return 2 * 12 * n * work.n_neighbors  # twice the lists of sparse affinities


def _scan_bytes(work: Costs, n_columns: int, value_bytes: int) -> int:
    """Return the bytes per thread of rows of keys, and of the matrix product."""
    columns = min(n_columns, SCAN_COLUMNS)
    has_product = work.metric.is_squared and not work.given.is_sparse
    width = work.given.points.n_features if has_product else 0
    return SCAN_ROWS * columns * value_bytes + packed_bytes(width, columns, value_bytes)


def _listed_bytes(work: Costs, n_pairs: int) -> int:
    """Return the bytes of the start and of step 3 with sparse affinities, with these."""
    n = work.given.n_points
    joint = 8 * n_pairs + 16 * n
    # Step 3 sorts the matrix along a curve: from one sorted copy it makes the next.
    n_copies = 3 if work.n_iter > ARRANGE_FROM else 2
    layout = _layout_bytes(work, width=n**0.5)  # measured: 0.7 to 0.95 times this width
    return joint + max(_start_bytes(work, "sparse", n_pairs), (n_copies - 1) * joint + layout)


def _all_pairs_bytes(work: Costs) -> int:
    """Return the bytes of the start and of step 3 with dense affinities, besides these."""
    n = work.given.n_points
    return max(_start_bytes(work, "dense", n**2), STATE_BYTES * n)


def _start_bytes(work: Costs, form: str, n_pairs: int) -> int:
    """Return the bytes that the initial coordinates need, besides the affinities."""
    points = work.given.points
    n, d = points.n_points, work.given.n_features
    if work.start == "spectral":
        return SPECTRAL_BYTES[form] * n_pairs + _krylov_bytes(work, n)
    if work.start != "pca":
        return AXES_BYTES * n
    if points.n_entries is not None:
        return 12 * points.n_entries + _krylov_bytes(work, d) + AXES_BYTES * n
    side = min(n, d)
    if side > LARGEST_MATRIX:
        return _krylov_bytes(work, d) + AXES_BYTES * n
    products = 8 * side * (min(BLOCK, max(n, d)) + 2 * side)
    return products + _krylov_bytes(work, side) + AXES_BYTES * n


def _krylov_bytes(work: Costs, side: int) -> int:
    """Return the bytes that the eigenvectors of a matrix with a number of rows need."""
    width = min(work.n_components + EXTRA, side / DEPTH)  # a basis has at most `side` vectors
    return round(KRYLOV_BYTES * width * side)


def _layout_bytes(work: Costs, width: float) -> int:
    """Return the bytes of step 3, besides the affinities: the state, and a mesh or a tree.

    width: expected width of the map at the end. A map that outgrows the largest mesh gets a tree
    besides it.
    """
    n, forces = work.given.n_points, work.forces
    needs_tree, extra = isinstance(forces, Tree), 0
    if isinstance(forces, Mesh):
        # Chunks of points have charges of their own, 4 bytes per node of the mesh before padding.
        n_chunks = min(N_CHUNKS, 1 + n // CHUNK_POINTS)
        node_bytes = NODE_BYTES + 4 * n_chunks / PADDING**work.n_components
        n_nodes = expected_nodes(work.n_components, forces.accuracy, work.dof, n, width)
        needs_tree, extra = n_nodes == MAX_NODES, round(node_bytes * n_nodes)
    return n * (STATE_BYTES + (TREE_BYTES if needs_tree else 0)) + extra


def out_of_memory(
    affinities: str,
    costs: Costs,
    possible: tuple[str, ...],
    available: int,
    bytes_for: Callable[[int], int],
) -> ParameterError:
    """Return an error that names alternatives that fit.

    possible: the forms of affinities that can be chosen. bytes_for: memory for fewer points.
    """
    others = [
        f"{keyword('affinities', name)} ({size(costs.bytes[name])})"
        for name in possible
        if costs.bytes[name] <= available
    ]
    given, needed = costs.given, costs.bytes[affinities]
    n_fitting = most_that_fit(bytes_for, given.n_points, available)
    if n_fitting < 2:
        # 1 % more, because `size` prints three digits and must not round below the need.
        hint = f"raise {keyword('memory_limit')} to {size(math.ceil(1.01 * needed))} or more"
    elif given.row_bytes:
        hint = f"map at most {n_fitting:,} of the rows with {keyword('landmarks', n_fitting)}"
    else:
        hint = f"fit on at most {n_fitting:,} points"
    hint = f"choose {' or '.join(others)}, or {hint}" if others else hint
    return ParameterError(
        "affinities",
        f"fit in the {size(available)} of memory that are available; {affinities} affinities of "
        f"{given.n_points:,} points need {size(needed)}",
        affinities,
        f"{hint[0].upper()}{hint[1:]}.",
    )


def most_that_fit(bytes_for: Callable[[int], int], n_points: int, available: int) -> int:
    """Return a number of points below n_points that fits, or 1 if none is found.

    bytes_for: memory for a number of points; an error if the kernel cannot be fitted to so few.
    """
    fits, fails = 1, n_points
    while fails - fits > 1:
        middle = (fits + fails) // 2
        try:
            does_fit = bytes_for(middle) <= available
        except ParameterError:
            return fits
        fits, fails = (middle, fails) if does_fit else (fits, middle)
    return fits
