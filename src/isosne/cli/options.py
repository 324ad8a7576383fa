"""Options of the commands: same name, same form, same help everywhere.

An option has the name of the keyword of `isosne.TSNE`, of its kernels or of
`isosne.rows.read_table` that it sets. Typer makes one option of each parameter of a command, so a
command lists its options one by one; those of several commands are type aliases here. A command
puts them into the dataclasses below, which the rest of the command line takes.
"""

from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

import typer

from isosne.errors import DataError

COMMON, INPUT, KERNEL = "Common options", "Input", "Kernel and structure"
RESOURCES, OUTPUT, PICTURE = "Resources", "Output", "Picture"
PANELS = (COMMON, PICTURE, INPUT, KERNEL, RESOURCES, OUTPUT)
"""Sections of a help text, in order."""


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


def argument(name: str, help: str) -> Any:  # noqa: A002  Typer's word
    """Return an argument, which has no default."""
    return typer.Argument(metavar=name, show_default=False, help=help)


def output_option(help: str, name: str = "FILE") -> Any:  # noqa: A002  Typer's word
    """Return the option for an output."""
    return option(help, "--output", "-o", default=False, metavar=name)


Source = Annotated[
    str,
    argument(
        "TABLE",
        "Table to read: a file (.csv, .tsv, .parquet, .feather, .npy, .npz, .zarr, .h5ad), a "
        "folder of Parquet files, - for standard input, or the name of a data set.",
    ),
]
MapFile = Annotated[
    str,
    argument(
        "MAP",
        "Map of isosne embed or of another program: a table with the coordinates (.parquet, "
        ".csv, .tsv, .feather), an array (.npy, .npz), an array of obsm (cells.h5ad:X_umap), or - "
        "for standard input.",
    ),
]
ModelFile = Annotated[Path, argument("MODEL", "Model file written by isosne embed --save-model.")]
MAP_OUTPUT = (
    "File for the map: .parquet, .npz or .feather; .csv, with the provenance in FILE.json; .h5ad, "
    "which keeps obs of an .h5ad table; .npy for the coordinates only; - for CSV on standard "
    "output."
)
Output = Annotated[str, output_option(MAP_OUTPUT)]
Force = Annotated[
    bool,
    option("Replace existing files, and accept a map of another table.", "--force", panel=OUTPUT),
]
Quiet = Annotated[bool, option("Print no notes and no progress.", "--quiet", "-q", panel=OUTPUT)]
Json = Annotated[bool, option("Print the result as one JSON object.", "--json", panel=OUTPUT)]
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
MemoryLimit = Annotated[
    str | None,
    option(
        "Memory to use at most, such as 2GB.",
        panel=RESOURCES,
        default="ISOSNE_MEMORY_LIMIT, else the free memory",
        metavar="SIZE",
    ),
]

Id = Annotated[str | None, option("Column with a unique row identifier.", "--id", metavar="COLUMN")]
Label = Annotated[str | None, option("Column with the class of each row.", metavar="COLUMN")]
Scaling = Annotated[
    Literal["none", "minmax", "standard"] | None,
    option(
        "Column scaling: minmax (0 to 1) or standard (zero mean, unit variance).", default="none"
    ),
]
Columns = Annotated[
    list[str] | None,
    option(
        "Column to use as a feature; repeat for several.",
        panel=INPUT,
        default="all other columns",
        metavar="COLUMN",
    ),
]
Exclude = Annotated[
    list[str] | None,
    option("Column to ignore; repeat for several.", panel=INPUT, metavar="COLUMN"),
]
TextColumns = Annotated[
    Literal["refuse", "leave_out"] | None,
    option("What to do with text columns.", panel=INPUT, default="refuse"),
]
Missing = Annotated[
    Literal["refuse", "drop"] | None,
    option(
        "What to do with rows that have missing or infinite values.",
        panel=INPUT,
        default="refuse",
    ),
]
Mixed = Annotated[
    bool | None,
    option(
        "Use all columns, also text, dates and missing values: rows are compared by isolation "
        "trees instead of distances.",
        "--mixed",
        panel=INPUT,
        default="numeric columns only",
    ),
]
Categorical = Annotated[
    list[str] | None,
    option(
        "Column to treat as categories although it holds numbers; repeat for several. Implies "
        "--mixed.",
        panel=INPUT,
        metavar="COLUMN",
    ),
]
Key = Annotated[
    str | None,
    option(
        "Array to read from a .npz, .zarr or .h5ad file.", panel=INPUT, default="X", metavar="NAME"
    ),
]

KernelName = Literal["owner", "isolation", "gaussian", "adaptive", "knn"]
Kernel = Annotated[
    KernelName | None,
    option(
        "Kernel, the similarity between two rows.",
        default="isolation with --psi, gaussian with --perplexity, otherwise owner",
    ),
]
Psi = Annotated[
    str | None,
    option(
        "isolation: number of cells per partitioning, or a fraction of the rows; several values "
        "are averaged. Larger values resolve finer neighborhoods.",
        panel=KERNEL,
        default="auto",
        metavar="N[,N...]",
    ),
]
CellSize = Annotated[
    str | None,
    option(
        "owner: mean number of points per cell, or a fraction of the rows; several values are "
        "averaged. Smaller values resolve finer neighborhoods.",
        panel=KERNEL,
        default="auto",
        metavar="X[,X...]",
    ),
]
Perplexity = Annotated[
    str | None,
    option(
        "gaussian: effective number of neighbors; several values are averaged.",
        panel=KERNEL,
        default="30; below 91 rows, a third of the others",
        metavar="X[,X...]",
    ),
]
MetricName = Literal[
    "euclidean",
    "manhattan",
    "chebyshev",
    "cosine",
    "mahalanobis",
    "hamming",
    "gower",
    "precomputed",
]
Metric = Annotated[
    MetricName | None,
    option("Distance between rows.", panel=KERNEL, default="euclidean, or as in the map"),
]
Seed = Annotated[
    int,
    option(
        "Seed of the random numbers; the same seed gives the same result.",
        *("--random-state", "--seed"),
        min=0,
        metavar="N",
    ),
]
NIter = Annotated[
    int | None,
    option(
        "Number of optimization steps.",
        *("--n-iter", "--max-iter"),
        default="500; 250 for isosne extend",
        metavar="N",
    ),
]
Clusters = Annotated[
    float | None,
    option(
        "Find clusters by the Leiden algorithm on the joint probabilities, with this resolution: "
        "0.5 is a good start, higher values give more clusters.",
        panel=KERNEL,
        metavar="X",
    ),
]
Outliers = Annotated[
    bool,
    option(
        "Score the rows: 0 for the most typical ones, up to 1 for outliers.",
        "--outliers",
        panel=KERNEL,
    ),
]
Checkpoint = Annotated[
    Path | None,
    option(
        "Save the state of the run to this file, and resume from it if it exists.",
        panel=OUTPUT,
        metavar="FILE",
    ),
]
SaveModel = Annotated[
    Path | None,
    option(
        "Save the model to this file, for isosne place and extend.",
        "--save-model",
        panel=OUTPUT,
        metavar="FILE",
    ),
]


@dataclass(frozen=True)
class TableOptions:
    """How to read a table; None: not given."""

    id: str | None = None
    label: str | None = None
    scale: str | None = None
    columns: list[str] | None = None
    exclude: list[str] | None = None
    text_columns: str | None = None
    missing: str | None = None
    mixed: bool | None = None
    categorical: list[str] | None = None
    key: str | None = None

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
class MapOptions:
    """The kernel, which is step 1 of the method, and the optimization; None: the default."""

    kernel: KernelName | None = None
    psi: str | None = None
    cell_size: str | None = None
    perplexity: str | None = None
    metric: MetricName | None = None
    random_state: int = 0
    n_iter: int | None = None

    @property
    def kernel_name(self) -> str:
        """The kernel that is named, or that an option belongs to, or the default."""
        if self.kernel is not None:
            return self.kernel
        if self.psi is not None:
            return "isolation"
        return "owner" if self.perplexity is None else "gaussian"

    def given(self) -> dict[str, Any]:
        """Return the options that were given, and the kernel in any case."""
        return {k: v for k, v in asdict(self).items() if v is not None} | {
            "kernel": self.kernel_name
        }


class Resources(NamedTuple):
    """What a command may use of the machine."""

    n_jobs: int | None = None
    memory_limit: str | None = None
