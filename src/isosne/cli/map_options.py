"""Options that describe a map: its kernel, its optimization, its landmarks."""

from dataclasses import dataclass
from typing import Annotated, Literal

from isosne.cli.options import EMBEDDING, KERNEL, LANDMARKS, option

Metric = Literal[
    "euclidean",
    "manhattan",
    "chebyshev",
    "minkowski",
    "cosine",
    "mahalanobis",
    "hamming",
    "gower",
    "precomputed",
]


@dataclass(frozen=True)
class KernelOptions:
    """Step 1 of the method: the similarity of two points. None: the kernel's default."""

    kernel: Annotated[
        Literal["owner", "isolation", "gaussian", "adaptive", "knn"] | None,
        option(
            "Kernel, the similarity between two rows.",
            default="isolation with --psi, gaussian with --perplexity, otherwise owner",
        ),
    ] = None
    psi: Annotated[
        str | None,
        option(
            "isolation: number of cells per partitioning, or a fraction of the rows; several "
            "values are averaged. Larger values resolve finer neighborhoods.",
            default="auto",
            metavar="N[,N...]",
        ),
    ] = None
    cell_size: Annotated[
        str | None,
        option(
            "owner: mean number of points per cell, or a fraction of the rows; several values are "
            "averaged. Smaller values resolve finer neighborhoods.",
            panel=KERNEL,
            default="auto",
            metavar="X[,X...]",
        ),
    ] = None
    perplexity: Annotated[
        str | None,
        option(
            "gaussian: effective number of neighbors; several values are averaged.",
            default="30; below 91 rows, a third of the others",
            metavar="X[,X...]",
        ),
    ] = None
    n_partitions: Annotated[
        str | None,
        option(
            "isolation, owner: number of random partitionings, or exact for the closed form.",
            panel=KERNEL,
            default="auto for isolation, exact for owner",
            metavar="N|exact",
        ),
    ] = None
    partition: Annotated[
        Literal["voronoi", "forest"] | None,
        option("isolation, owner: shape of the cells.", panel=KERNEL, default="voronoi"),
    ] = None
    k: Annotated[
        str | None,
        option("adaptive, knn: number of neighbors.", panel=KERNEL, default="7", metavar="N"),
    ] = None
    metric: Annotated[
        Metric | None,
        option("Distance between rows.", panel=KERNEL, default="euclidean"),
    ] = None
    p: Annotated[
        float | None,
        option("minkowski: power of the distance.", panel=KERNEL, default="2", metavar="X"),
    ] = None

    @property
    def kernel_name(self) -> str:
        """The kernel that is named, or that an option belongs to, or the default."""
        if self.kernel is not None:
            return self.kernel
        if self.psi is not None:
            return "isolation"
        return "owner" if self.perplexity is None else "gaussian"


@dataclass(frozen=True)
class EmbeddingOptions:
    """Steps 2 and 3 of the method: affinities, and the optimization of the map."""

    random_state: Annotated[
        int,
        option(
            "Seed of the random numbers; the same seed gives the same map.",
            *("--random-state", "--seed"),
            min=0,
            metavar="N",
        ),
    ] = 0
    n_iter: Annotated[
        int | None,
        option(
            "Number of optimization steps: above 150 with the schedule annealed, above 250 with "
            "standard.",
            *("--n-iter", "--max-iter"),
            default="500 for annealed, 750 for standard",
            metavar="N",
        ),
    ] = None
    n_components: Annotated[
        int,
        option("Number of dimensions of the map.", panel=EMBEDDING, min=1, max=3, metavar="N"),
    ] = 2
    objective: Annotated[
        Literal["kl", "nerv", "jse"], option("Objective to minimize.", panel=EMBEDDING)
    ] = "kl"
    dof: Annotated[
        float,
        option("Degrees of freedom of the similarity in the map.", panel=EMBEDDING, metavar="X"),
    ] = 1.0
    schedule: Annotated[
        Literal["annealed", "standard", "paper", "opt_sne"],
        option(
            "Optimization schedule: standard is that of other packages, paper that of the paper's "
            "authors, opt_sne stops automatically.",
            panel=EMBEDDING,
        ),
    ] = "annealed"
    exaggeration: Annotated[
        float | None,
        option(
            "Exaggeration kept until the end; 2 to 4 gives tighter clusters.",
            panel=EMBEDDING,
            default="1",
            metavar="X",
        ),
    ] = None
    start: Annotated[
        Literal["auto", "pca", "spectral", "random"],
        option("Initial coordinates.", "--start", "--init", panel=EMBEDDING),
    ] = "auto"
    affinities: Annotated[
        Literal["auto", "dense", "sparse", "sampled"],
        option("Pairs to compare: all, nearest neighbors, or a sample.", panel=EMBEDDING),
    ] = "auto"
    neighbors: Annotated[
        Literal["auto", "exact", "approximate"] | None,
        option("Neighbor search; needs --affinities sparse.", panel=EMBEDDING, default="auto"),
    ] = None
    forces: Annotated[
        Literal["auto", "exact", "mesh", "tree"],
        option("Method for the repulsive forces.", panel=EMBEDDING),
    ] = "auto"
    mesh_accuracy: Annotated[
        float | None,
        option(
            "Relative error of the forces; needs --forces mesh.",
            panel=EMBEDDING,
            default="0.01",
            metavar="X",
        ),
    ] = None
    theta: Annotated[
        float | None,
        option(
            "Barnes-Hut opening angle; needs --forces tree.",
            panel=EMBEDDING,
            default="0.5",
            metavar="X",
        ),
    ] = None


@dataclass(frozen=True)
class LandmarkOptions:
    """Embed a sample of the rows, and place the others on its map."""

    landmarks: Annotated[
        int | None,
        option(
            "Number of rows to embed; the other rows are placed on their map.",
            panel=LANDMARKS,
            default="all rows",
            metavar="N",
        ),
    ] = None
    landmark_choice: Annotated[
        Literal["uniform", "spread"] | None,
        option(
            "How landmarks are sampled: uniformly, or half of them from sparse regions.",
            panel=LANDMARKS,
            default="uniform",
        ),
    ] = None
