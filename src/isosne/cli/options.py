"""Options that several commands share: same name, same default, same help everywhere.

An option has the name of the keyword of `isosne.TSNE`, of its kernels or of
`isosne.files.read_table` that it sets. Options come in groups, as dataclasses: a command takes a
whole group as one parameter, and `isosne.cli.app` makes an option of each field. The groups that
describe a map are in `isosne.cli.map_options`.
"""

from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

import typer

from isosne.cli.messages import show_tracebacks
from isosne.errors import DataError

COMMON, INPUT, KERNEL, EMBEDDING = "Common options", "Input", "Kernel", "Embedding"
LANDMARKS, RESOURCES, OUTPUT = "Landmarks", "Resources", "Output"
FILES, PICTURE, STRUCTURE = "Checkpoints and models", "Picture", "Structure"
TILES = "Tiles"
PANELS = (
    *(COMMON, PICTURE, INPUT, KERNEL, EMBEDDING, STRUCTURE),
    *(LANDMARKS, TILES, RESOURCES, FILES, OUTPUT),
)
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
