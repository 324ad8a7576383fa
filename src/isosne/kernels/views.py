"""Several views of the same rows: draw a view, then a cell.

A view is a matrix of its own columns and units, such as the genes and the proteins of the same
cells. The row of a point is the weighted mean of its rows in the views that it has. Only ranks
within a view count, so views need no common scale (docs/views.md).

Views are handled as one matrix: the columns of each, divided by a power of two so that no view
dominates the principal components of the start, and a column that says whether a row has the view.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from sklearn.base import clone

from isosne._checks import check_number, check_points
from isosne._random import RandomState
from isosne._tables import as_array
from isosne._types import Array, FarPartners, Points
from isosne.errors import DataError, ParameterError, show
from isosne.kernels.base import KernelCosts, MetricKernel
from isosne.kernels.owner import OwnerKernel


def are_views(X: Any) -> bool:
    """Return whether an input is a list or mapping of matrices, and not one matrix."""
    if isinstance(X, Mapping):
        return len(X) > 0 and all(np.ndim(view) == 2 for view in X.values())
    return isinstance(X, list | tuple) and len(X) > 0 and all(_is_matrix(view) for view in X)


def _is_matrix(view: Any) -> bool:
    return getattr(view, "ndim", None) == 2 or hasattr(view, "columns")


class Layout(NamedTuple):
    """The columns of views in one matrix; ``scales`` are the powers of two that divide them."""

    names: tuple[str, ...]
    widths: tuple[int, ...]
    scales: tuple[float, ...]

    @classmethod
    def of(cls, views: Any) -> "Layout":
        """Return the layout of views: a list, or a mapping from names."""
        named = _named(views)
        parts = [_checked(view, name)[0] for name, view in named.items()]
        scales = []
        for part in parts:
            squares = part.multiply(part).sum() if isinstance(part, csr_array) else (part**2).sum()
            mean = float(squares) / max(part.shape[0], 1)
            scales.append(2.0 ** (math.frexp(mean)[1] // 2) if mean > 0 else 1.0)
        return cls(tuple(named), tuple(part.shape[1] for part in parts), tuple(scales))

    def named(self, views: Any) -> dict[str, Any]:
        """Return views by name; they may also be one matrix, with all columns side by side."""
        is_matrix = isinstance(views, np.ndarray | csr_array)
        if is_matrix and views.shape[1:] == (sum(self.widths),):
            stops = np.cumsum(self.widths).tolist()
            columns = map(slice, [0, *stops], stops)
            return {name: views[:, own] for name, own in zip(self.names, columns, strict=True)}
        named = _named(views)
        if tuple(named) != self.names:
            raise DataError(
                f"X must hold the views {', '.join(self.names)}; got {', '.join(named) or 'none'}. "
                "Pass the same views, in the same order."
            )
        return named

    def stack(self, views: Any) -> Points:
        """Return views as one matrix, in this layout."""
        named, blocks = self.named(views), list[Any]()
        for (name, view), width, scale in zip(named.items(), self.widths, self.scales, strict=True):
            part, has_view = _checked(view, name)
            if part.shape[1] != width:
                raise DataError(
                    f"View {name} must have {width} columns, as in the fit; got {part.shape[1]}. "
                    "Pass the same columns."
                )
            blocks += [part / scale, has_view.astype(part.dtype)[:, None]]
        lengths = [block.shape[0] for block in blocks[::2]]
        if len(set(lengths)) > 1:
            raise DataError(
                f"All views must have the same number of rows; got {', '.join(map(str, lengths))}. "
                "Use rows of NaN where a row lacks a view."
            )
        n_empty = int((sum(blocks[1::2]) == 0).sum())
        if n_empty:
            raise DataError(f"Each row must have a view; {n_empty} rows have none. Leave them out.")
        if any(isinstance(block, csr_array) for block in blocks):
            return csr_array(hstack([csr_array(block) for block in blocks], format="csr"))
        return np.hstack(blocks)

    def part(self, points: Points, number: int) -> tuple[Points, NDArray[np.int64]]:
        """Return the points of a view, in its own units, and the rows that have it."""
        first = sum(self.widths[:number]) + number
        block = points[:, first : first + self.widths[number] + 1]
        own, flags = block[:, :-1], block[:, -1:]
        flags = flags.toarray() if isinstance(flags, csr_array) else flags
        rows = np.flatnonzero(flags[:, 0])
        part = own[rows] * points.dtype.type(self.scales[number])
        return part if isinstance(part, csr_array) else np.ascontiguousarray(part), rows


def _named(views: Any) -> dict[str, Any]:
    if isinstance(views, Mapping):
        return {str(name): view for name, view in views.items()}
    if not are_views(views):
        raise DataError(
            f"X must be a list or a mapping of views, as in the fit; got {show(views)}. Pass one "
            "matrix per view."
        )
    return {f"view {number}": view for number, view in enumerate(views, 1)}


def _checked(view: Any, name: str) -> tuple[Points, NDArray[np.bool_]]:
    """Return a view with zeros for the rows that lack it, and which rows have it."""
    dense = view if hasattr(view, "tocsr") else as_array(view, f"view {name!r}")
    has_view: NDArray[np.bool_] = np.ones(dense.shape[0], bool)
    if isinstance(dense, np.ndarray) and dense.dtype.kind == "f":
        has_view = ~np.asarray(np.isnan(dense).all(axis=1))
        dense = np.where(has_view[:, None], dense, dense.dtype.type(0))
    points = check_points(dense, name=f"view {name!r}", min_rows=1)
    return points if points.dtype.kind == "f" else points.astype(np.float64), has_view


class ViewsKernel(MetricKernel):
    """Kernel for several views of the same rows: draw a view, then a cell of the owner kernel.

    `TSNE` makes one by itself if it is fitted to a list or a mapping of matrices. Make one for
    weights, or for a metric per view.

    Parameters
    ----------
    kernels : OwnerKernel, or list or mapping of OwnerKernel, or None, default=None
        How each view is compared: one kernel for all, or one per view, in the order of the views or
        by name. None: ``OwnerKernel()``.
    weights : list or mapping of floats, or None, default=None
        Probability of each view, up to a factor; None: all the same. A row that lacks a view (all
        its values are NaN) uses the others.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the kernels.
    layout : Layout or None, default=None
        Columns of the views; `TSNE` sets it.

    Attributes
    ----------
    views_ : list of OwnerKernel
        The fitted kernel of each view.
    members_ : list of arrays of int
        The rows that have each view.

    Notes
    -----
    Not part of the paper. The rows of one view given twice are those of the view. Costs one
    neighbor search per view.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from isosne import TSNE, OwnerKernel, ViewsKernel
    >>> X = load_digits().data[:300]
    >>> views = {"top": X[:, :32], "bottom": X[:, 32:]}
    >>> kernel = ViewsKernel(OwnerKernel(metric="cosine"), weights={"top": 2, "bottom": 1})
    >>> TSNE(kernel, random_state=0).fit_transform(views).shape
    (300, 2)
    """

    metric, p = "euclidean", 2.0
    """Of all columns together: for new rows that are far, and nothing else."""
    views_: list[OwnerKernel]
    members_: list[NDArray[np.int64]]

    def __init__(
        self,
        kernels: Any = None,
        *,
        weights: Any = None,
        random_state: RandomState = None,
        layout: Layout | None = None,
    ) -> None:
        self.kernels = kernels
        self.weights = weights
        self.random_state = random_state
        self.layout = layout

    def _per_view(self, given: Any, name: str) -> list[Any]:
        """Return one value per view, from a list or a mapping."""
        names = self._layout.names
        if isinstance(given, Mapping) and set(given) == set(names):
            return [given[view] for view in names]
        if isinstance(given, Sequence) and len(given) == len(names):
            return list(given)
        rule = f"have one value for each of the views {', '.join(names)}"
        raise ParameterError(name, rule, given, "Pass a list in their order, or a mapping.")

    @property
    def _layout(self) -> Layout:
        if self.layout is None:
            raise DataError(
                "X must be a list or a mapping of views for a ViewsKernel. Pass for example "
                "TSNE(kernel).fit({'genes': A, 'proteins': B})."
            )
        return self.layout

    def own_kernels(self) -> list[OwnerKernel]:
        """Return an unfitted kernel per view, with the seed of this kernel."""
        one = OwnerKernel() if self.kernels is None else self.kernels
        given = self._per_view(one, "kernels") if not isinstance(one, OwnerKernel) else None
        found = given or [one] * len(self._layout.names)
        for kernel in found:
            if not isinstance(kernel, OwnerKernel) or kernel.metric == "precomputed":
                rule = "be owner kernels that compare points"
                raise ParameterError("kernels", rule, kernel, "Pass for example OwnerKernel().")
        return [clone(kernel).set_params(random_state=self.random_state) for kernel in found]

    def shares(self) -> NDArray[np.float64]:
        """Return the probability of each view."""
        n = len(self._layout.names)
        weights = [1.0] * n if self.weights is None else self._per_view(self.weights, "weights")
        for weight in weights:
            check_number(weight, "weights", low=0, hint="0 leaves a view out.")
        if not sum(weights):
            raise ParameterError("weights", "not all be 0", self.weights, "Raise one of them.")
        return np.asarray(weights, np.float64) / sum(weights)

    def check_parameters(self, n_points: int) -> None:
        super().check_parameters(n_points)
        self.shares()
        for kernel in self.own_kernels():
            kernel.check_parameters(n_points)

    def resolved(
        self, n_points: int, *, must_draw: bool = False, n_listed: int | None = None
    ) -> Self:
        own: Self = clone(self)
        own.set_params(kernels=[kernel.resolved(n_points) for kernel in self.own_kernels()])
        return own

    def costs(self, n_points: int) -> KernelCosts:
        views = [kernel.costs(n_points) for kernel in self.own_kernels()]
        n_lists = sum(view.n_partners for view in views)
        n_far, has_labels = sum(view.n_far for view in views), any(v.has_labels for v in views)
        n_placed = sum(view.n_placed or view.n_partners for view in views)
        return KernelCosts(
            n_lists, n_lists, n_placed, n_far, needs_lists_only=True, has_labels=has_labels
        )

    def _fit_points(self, points: Points) -> Self:
        views, members = [], []
        names, parts = self._layout.names, self.parts(points)
        for name, kernel, (part, rows) in zip(names, self.own_kernels(), parts, strict=True):
            if len(rows) < 2:
                raise DataError(
                    f"At least 2 rows must have the view {name}; got {len(rows)}. Leave it out."
                )
            views.append(kernel.fit_checked(part))
            members.append(rows)
        return self._remember(points, views_=views, members_=members)

    def parts(self, points: Points) -> list[tuple[Points, NDArray[np.int64]]]:
        """Return the points of each view, and the rows that have it."""
        return [self._layout.part(points, number) for number in range(len(self._layout.names))]

    def read_labels(self, y: Any) -> None:
        for view, rows in zip(self.views_, self.members_, strict=True):
            view.read_labels(y if y is None else as_array(y, "y")[rows])

    def weigh(self, members: list[Array], n_points: int) -> NDArray[np.float32]:
        """Return the share (n_views, n_points) of each view that a row has; 0 of others."""
        shares = np.zeros((len(members), n_points))
        for share, rows, own in zip(self.shares(), members, shares, strict=True):
            own[rows] = share
        total = shares.sum(axis=0)
        return (shares / np.where(total > 0, total, 1)).astype(np.float32)

    def whole_rows(self) -> FarPartners:
        """Return the partners of all rows, those of one view after the other, and their shares."""
        n_points = self.X_fit_.shape[0]
        ids, rows = [], []
        for view, own, share in zip(
            self.views_, self.members_, self.weigh(self.members_, n_points), strict=True
        ):
            found = view.whole_rows()
            lists = np.zeros((n_points, found.indices.shape[1]), np.int32)
            shares = np.zeros(lists.shape, np.float32)
            lists[own] = own[found.indices]
            shares[own] = found.probabilities * share[own, None]
            ids.append(lists)
            rows.append(shares)
        return FarPartners(np.concatenate(ids, axis=1), np.concatenate(rows, axis=1))

    def __str__(self) -> str:
        """Return one line per kind of kernel, for the plan."""
        kernels = [
            str(clone(kernel).set_params(random_state=None)) for kernel in self.own_kernels()
        ]
        found: dict[str, list[str]] = {kernel: [] for kernel in kernels}
        for kernel, name, share in zip(kernels, self._layout.names, self.shares(), strict=True):
            found[kernel].append(f"{name} ({share:.0%})")
        return "; ".join(f"{kernel} of {', '.join(names)}" for kernel, names in found.items())

    def similarity(self, A: Any = None, B: Any = None) -> NDArray[np.float32]:
        """Not available: there is a similarity per view, that of the kernels in ``views_``."""
        raise DataError("Similarities are those of a view. Call views_[0].similarity() instead.")
