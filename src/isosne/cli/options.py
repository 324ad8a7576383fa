"""Options that several commands share: same name, same default, same help everywhere.

An option has the name of the keyword of `isosne.TSNE`, of its kernels or of
`isosne.files.read_table` that it sets. Options come in groups, as dataclasses: a command takes a
whole group as one parameter, and `isosne.cli.app` makes an option of each field.
"""

from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

import typer

from isosne.cli.messages import show_tracebacks
from isosne.errors import DataError

COMMON, INPUT, KERNEL, EMBEDDING = "Common options", "Input", "Kernel", "Embedding"
LANDMARKS, RESOURCES, OUTPUT = "Landmarks", "Resources", "Output"
FILES = "Checkpoints and models"
PANELS = (COMMON, INPUT, KERNEL, EMBEDDING, LANDMARKS, RESOURCES, FILES, OUTPUT)
"""Sections of a help text, in order."""

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


def option(
    help: str,  # noqa: A002  Typer's word
    *flags: str,
    panel: str = COMMON,
    default: str | bool = True,
    **settings: Any,
) -> Any:
    """Return an option in a section of the help.

    ``default`` is what the help shows as default: a text where the value itself is None, or False
    for nothing.
    """
    return typer.Option(*flags, help=help, rich_help_panel=panel, show_default=default, **settings)


class DefaultsFrom(NamedTuple):
    """Marks a group of options that default to what a map or a model file records."""

    place: str


Source = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        show_default=False,
        help="Table to read: a file (.csv, .tsv, .parquet, .feather, .npy, .npz, .zarr, .h5ad), a "
        "folder of Parquet files, - for standard input, or the name of a data set.",
    ),
]
MapFile = Annotated[
    str,
    typer.Argument(
        metavar="MAP",
        show_default=False,
        help="Map of isosne embed or of another program: a table with the coordinates (.parquet, "
        ".csv, .tsv, .feather), an array (.npy, .npz), an array of obsm (cells.h5ad:X_umap), or - "
        "for standard input.",
    ),
]
Output = Annotated[
    str,
    option(
        "File for the map: .parquet, .npz or .feather; .csv, with the provenance in FILE.json; "
        ".h5ad, which keeps obs of an .h5ad table; .npy for the coordinates only; - for CSV on "
        "standard output.",
        *("--output", "-o"),
        default=False,
        metavar="FILE",
    ),
]
ModelFile = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        show_default=False,
        help="Model file written by isosne embed --save-model.",
    ),
]
NJobs = Annotated[
    int | None,
    option(
        "Number of threads; the result does not depend on it.",
        panel=RESOURCES,
        default="all cores",
        min=1,
        metavar="N",
    ),
]
Force = Annotated[bool, option("Replace existing files.", "--force", panel=OUTPUT)]


@dataclass(frozen=True)
class TableOptions:
    """How to read a table; None: not given."""

    id: Annotated[
        str | None, option("Column with a unique row identifier.", "--id", metavar="COLUMN")
    ] = None
    label: Annotated[str | None, option("Column with the class of each row.", metavar="COLUMN")] = (
        None
    )
    scale: Annotated[
        Literal["none", "minmax", "standard"] | None,
        option(
            "Column scaling: minmax (0 to 1) or standard (zero mean, unit variance).",
            default="none",
        ),
    ] = None
    columns: Annotated[
        list[str] | None,
        option(
            "Column to use as a feature; repeat for several.",
            panel=INPUT,
            default="all other columns",
            metavar="COLUMN",
        ),
    ] = None
    exclude: Annotated[
        list[str] | None,
        option("Column to ignore; repeat for several.", panel=INPUT, metavar="COLUMN"),
    ] = None
    text_columns: Annotated[
        Literal["refuse", "leave_out"] | None,
        option("What to do with text columns.", panel=INPUT, default="refuse"),
    ] = None
    missing: Annotated[
        Literal["refuse", "drop"] | None,
        option(
            "What to do with rows that have missing or infinite values.",
            panel=INPUT,
            default="refuse",
        ),
    ] = None
    mixed: Annotated[
        bool | None,
        option(
            "Use all columns, also text, dates and missing values: rows are compared by isolation "
            "trees instead of distances.",
            "--mixed",
            panel=INPUT,
            default="numeric columns only",
        ),
    ] = None
    categorical: Annotated[
        list[str] | None,
        option(
            "Column to treat as categories although it holds numbers; repeat for several. Implies "
            "--mixed.",
            panel=INPUT,
            metavar="COLUMN",
        ),
    ] = None
    key: Annotated[
        str | None,
        option(
            "Array to read from a .npz, .zarr or .h5ad file.",
            panel=INPUT,
            default="X",
            metavar="NAME",
        ),
    ] = None
    header: Annotated[
        bool | None,
        option(
            "Whether the first line of a text file holds column names.",
            "--header/--no-header",
            panel=INPUT,
            default="auto-detect",
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """Return the options that were given, including those that repeat the default."""
        return {name: value for name, value in asdict(self).items() if value not in (None, [])}

    def completed(self, provenance: dict[str, Any], source: str) -> Self:
        """Return the options, completed by those in the provenance of a map."""
        known = check_recorded(provenance.get("table", {}), source)
        return replace(self, **{k: v for k, v in known.items() if k not in self.given()})

    def with_all_columns(self) -> Self:
        """Return options that read every column except the identifiers, and every row."""
        every = replace(self, label=None, columns=None, exclude=None, text_columns="leave_out")
        return replace(every, missing="refuse", scale="none", mixed=None, categorical=None)


def check_recorded(options: Any, source: str) -> dict[str, Any]:
    """Return options that a map or a model records, if they are options that read a table."""
    known = {field.name for field in fields(TableOptions)}
    if not isinstance(options, dict) or not all(
        name in known and isinstance(value, bool | str | list) for name, value in options.items()
    ):
        raise DataError(
            f"Cannot read {source}: the record of how its table was read is damaged, or of another "
            "version of isosne. Make it again with this version."
        )
    return options


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


@dataclass(frozen=True)
class ResourceOptions:
    """What a command may use of the machine."""

    n_jobs: NJobs = None
    memory_limit: Annotated[
        str | None,
        option(
            "Memory to use at most, such as 2GB.",
            panel=RESOURCES,
            default="ISOSNE_MEMORY_LIMIT, else the free memory",
            metavar="SIZE",
        ),
    ] = None


@dataclass(frozen=True)
class MessageOptions:
    """What a command prints."""

    quiet: Annotated[
        bool, option("Print no notes and no progress.", "--quiet", "-q", panel=OUTPUT)
    ] = False
    json: Annotated[
        bool, option("Print the result as one JSON object.", "--json", panel=OUTPUT)
    ] = False
    debug: Annotated[
        bool,
        option(
            "Print the full traceback of an error.",
            "--debug",
            panel=OUTPUT,
            callback=show_tracebacks,
        ),
    ] = False
