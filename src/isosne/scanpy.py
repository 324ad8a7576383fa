"""Maps of AnnData objects, with the calling conventions of scanpy.

Needs neither scanpy nor anndata: an object with the attributes of an AnnData object is enough.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from isosne._checks import check_count, is_one_of
from isosne._random import RandomState
from isosne.affinities.sparse import as_sparse
from isosne.errors import DataError, ParameterError, keyword, suggest
from isosne.quality import compare
from isosne.tsne.estimator import TSNE
from isosne.tsne.hints import HINTS, hinting

__all__ = ["tsne"]

NAME = "isosne"
N_PCS = 50
"""Largest number of genes for which X itself is mapped: the default of scanpy's settings.N_PCS."""
N_NEIGHBORS = 10
"""Neighborhood size of the trust, as in `isosne.quality.compare`."""
OWN = ("kernel=", "random_state=")
HINTED = {
    name: use if use.startswith(OWN) else f"isosne.TSNE with {use}" for name, use in HINTS.items()
}
"""What to use instead of parameters that `tsne` does not have."""


@hinting(HINTED, "isosne.scanpy.tsne")
def tsne(
    adata: Any,
    n_pcs: int | None = None,
    *,
    use_rep: Any = None,
    n_components: int = 2,
    kernel: Any = "owner",
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    key_added: str | None = None,
    copy: bool = False,
    neighbors_key: str | None = None,
    affinities: bool = False,
    trust: bool = False,
) -> Any:
    """Map the cells of an AnnData object; use it in place of ``scanpy.tl.tsne``.

    Parameters
    ----------
    adata : AnnData
        The cells.
    n_pcs : int or None, default=None
        Number of principal components (columns of a representation) to use. None: all; 0 with
        ``use_rep=None``: X.
    use_rep : str, list or mapping of str, or None, default=None
        Representation to map: a key of obsm or layers, or "X". Several are views of the same cells
        (`isosne.ViewsKernel`); a mapping gives them names. None: X if there are at most 50 genes,
        otherwise ``obsm["X_pca"]``.
    n_components : int, default=2
        Dimensions of the map, 1 to 3.
    kernel : str or kernel, default="owner"
        See `isosne.TSNE`.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the map.
    n_jobs : int or None, default=None
        Number of threads; None: Numba's number. The map does not depend on it.
    key_added : str or None, default=None
        Name of the results. None: "isosne", and "X_isosne" in obsm.
    copy : bool, default=False
        Whether to return a copy and leave `adata` as it is.
    neighbors_key : str or None, default=None
        Neighbor graph to map instead of the representation: a key of uns, such as "neighbors" after
        ``scanpy.pp.neighbors``. Its connectivities are the affinities of the cells.
    affinities : bool, default=False
        Whether to store the joint probabilities of the map. Only pairs of neighbors have one:
        kernels that would compare all pairs use sparse affinities.
    trust : bool, default=False
        Whether to store the trust of each cell.

    Returns
    -------
    AnnData or None
        None, or the copy. These fields are set; `key` is `key_added`, or "isosne":

        - ``obsm["X_isosne"]``, or ``obsm[key_added]``: the map, float32.
        - ``uns[key]["params"]``: the parameters, without those that are None.
        - ``obsp[key + "_connectivities"]``, with ``affinities=True``: the joint probabilities, a
          symmetric CSR matrix with sum 1. ``scanpy.tl.leiden`` takes its name as ``obsp``.
        - ``obs[key + "_trust"]``, with ``trust=True``: the share of the 10 nearest neighbors of a
          cell in the representation that are also among its 10 nearest neighbors in the map; the
          mean of several representations.

    Notes
    -----
    ``trust=True`` compares all pairs of cells.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> import isosne.scanpy
    >>> X = np.random.default_rng(0).normal(size=(60, 20))
    >>> adata = anndata.AnnData(X)
    >>> isosne.scanpy.tsne(adata, affinities=True, trust=True)
    >>> adata.obsm["X_isosne"].shape, adata.obsp["isosne_connectivities"].shape
    ((60, 2), (60, 60))
    """
    if not all(hasattr(adata, name) for name in ("X", "obs", "obsm", "obsp", "uns")):
        raise DataError(
            f"{keyword('adata')} must be an AnnData object; got a {type(adata).__name__}. "
            "For arrays and data frames, use isosne.TSNE().fit(X)."
        )
    graph = None if neighbors_key is None else _find_graph(adata, neighbors_key, kernel)
    points = _choose_representation(adata, use_rep, n_pcs) if graph is None or trust else None
    model = TSNE(
        kernel if graph is None else "precomputed",
        n_components=n_components,
        affinities="sparse" if affinities and graph is None else "auto",
        random_state=random_state,
        n_jobs=n_jobs,
    ).fit(points if graph is None else graph)
    adata, key = adata.copy() if copy else adata, key_added or NAME
    adata.obsm[key_added or f"X_{NAME}"] = model.embedding_
    params = {
        "kernel": model.kernel if isinstance(model.kernel, str) else repr(kernel),
        "n_components": n_components,
        "random_state": random_state if isinstance(random_state, int | np.integer) else None,
        "use_rep": use_rep,
        "n_pcs": n_pcs,
        "n_jobs": n_jobs,
        "neighbors_key": neighbors_key,
    }
    adata.uns[key] = {"params": {k: value for k, value in params.items() if value is not None}}
    n = adata.shape[0]
    if affinities:
        P = as_sparse(model.affinities_, negligible=0)
        adata.obsp[f"{key}_connectivities"] = csr_matrix((P.data, P.indices, P.indptr), (n, n))
    if trust:
        how: dict[str, Any] = {"metric": model.kernel_.metric, "p": model.kernel_.p}
        k = min(N_NEIGHBORS, (n - 1) // 2)
        how |= {"n_queries": n, "n_jobs": n_jobs}
        views = points.values() if isinstance(points, dict) else (points,)
        kept = [compare(view, model.embedding_, k, **how).trust().agreement for view in views]
        adata.obs[f"{key}_trust"] = np.mean(kept, axis=0)
    return adata if copy else None


def _choose_representation(adata: Any, use_rep: Any, n_pcs: int | None) -> Any:
    """Return the array to map, by the rule of scanpy, or several by name."""
    use_rep = {key: key for key in use_rep} if isinstance(use_rep, list | tuple) else use_rep
    if isinstance(use_rep, Mapping):
        return {view: _choose_representation(adata, key, n_pcs) for view, key in use_rep.items()}
    if use_rep is None:
        use_rep = "X" if adata.shape[1] <= N_PCS or n_pcs == 0 else "X_pca"
        if use_rep not in (*adata.obsm, "X"):
            raise DataError(
                f"{keyword('adata')} must have principal components in obsm['X_pca'], because it "
                f"has {adata.shape[1]:,} genes; it has none. Run scanpy.pp.pca(adata) first, or "
                f"pass {keyword('use_rep', 'X')} to map all genes."
            )
    if use_rep == "X" and adata.X is None:
        raise DataError(
            f"{keyword('adata')} must have an array X; it has none. "
            f"Name an array of obsm with {keyword('use_rep')}."
        )
    if use_rep == "X":
        return adata.X[:] if getattr(adata, "isbacked", False) else adata.X
    stored = {**getattr(adata, "layers", {}), **adata.obsm}
    if use_rep not in stored:
        known = ["X", *stored]
        hint = "Other representations must be computed and stored in obsm first."
        rule = f"be one of {', '.join(map(repr, known))}"
        raise ParameterError("use_rep", rule, use_rep, suggest(use_rep, known, hint))
    values = stored[use_rep]
    if n_pcs is None:
        return values
    hint = f"Pass a number of columns of {use_rep}, or compute more of them."
    check_count(n_pcs, "n_pcs", low=1, high=values.shape[1], hint=hint)
    return values.iloc[:, :n_pcs] if hasattr(values, "iloc") else values[:, :n_pcs]


def _find_graph(adata: Any, neighbors_key: str, kernel: Any) -> Any:
    """Return the connectivities of a neighbor graph."""
    if not is_one_of(kernel, (TSNE().kernel, "precomputed")):
        rule = f"be left out if {keyword('neighbors_key')} is set, whose graph has the affinities"
        hint = f"Leave out {keyword('kernel')} or {keyword('neighbors_key')}."
        raise ParameterError("kernel", rule, kernel, hint)
    graph = adata.uns.get(neighbors_key, {})
    name = graph.get("connectivities_key", "connectivities")
    if name not in adata.obsp:
        rule = "name a neighbor graph in uns, with its connectivities in obsp"
        hint = "Run scanpy.pp.neighbors(adata) first."
        raise ParameterError("neighbors_key", rule, neighbors_key, hint)
    return adata.obsp[name]
