"""Options of the commands: same name, same form, same help everywhere.

An option has the name of the keyword of `isosne.TSNE`, of its kernels or of
`isosne.rows.read_table` that it sets. A command is a function with the list of its options, those
of several commands by groups. The options of a group that were given are a dict by name.
"""

import inspect
import shlex
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from isosne._extras import deferred
from isosne.cli.messages import in_sentences
from isosne.errors import DataError, ParameterError, keyword

COMMON, INPUT, KERNEL = "Common options", "Input", "Kernel and structure"
RESOURCES, OUTPUT, PICTURE = "Resources", "Output", "Picture"
PANELS = (COMMON, PICTURE, INPUT, KERNEL, RESOURCES, OUTPUT)  # sections of a help text, in order
PATH = click.Path(path_type=Path)
TYPES = {"FILE": PATH, "FOLDER": PATH, "N": int, "X": float}  # by the names of values in the help


class Option(click.Option):
    """An option in a section of the help."""

    panel = COMMON


def option(
    usage: str,
    help: str,
    *,
    name: str = "",
    panel: str = COMMON,
    shown: str | bool = True,
    **settings: Any,
) -> Option:
    """Return an option as it is used: "--n-iter N", "--missing refuse|drop", or "--force".

    ``shown`` is what the help shows as default: a text where the value itself is None. ``name`` is
    that of the parameter if it is not that of the option.
    """
    flags = [word for word in usage.split() if word.startswith("-")]
    value = usage.split()[-1]
    if value == flags[-1]:
        settings["is_flag"] = True
    elif "|" in value:
        settings["type"] = click.Choice(value.split("|"))
    else:
        settings = {"metavar": value, "type": TYPES.get(value)} | settings
    names = [name, *flags] if name else flags
    made = Option(names, help=help, show_default=shown, **settings)
    made.panel = panel
    return made


input_option, kernel_option = partial(option, panel=INPUT), partial(option, panel=KERNEL)
resource_option, file_option = partial(option, panel=RESOURCES), partial(option, panel=OUTPUT)


def argument(name: str, metavar: str, help: str, **settings: Any) -> click.Argument:
    """Return an argument."""
    return click.Argument([name], metavar=metavar, help=help, **settings)


def output_option(help: str) -> Option:
    """Return the option for an output in a file."""
    return option("--output -o FILE", help, required=True)


class Command(click.Command):
    """A command whose errors are sentences, and whose help lists options by panel."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the line as it was typed; refuse an option that is given twice and takes one."""
        ctx.meta["line"] = shlex.join(["isosne", str(self.name), *args])
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        counts = Counter(
            p for p in order if isinstance(p, Option) and not (p.multiple or p.is_flag)
        )
        for parameter, n_times in counts.items():
            if n_times > 1:
                is_list = "..." in str(parameter.metavar)
                hint = "Separate several values by commas." if is_list else "Give it once."
                raise click.BadParameter(f"given {n_times} times. {hint}", ctx, parameter)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with in_sentences(self.params, quiet=ctx.params.get("quiet", False)):
            return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each panel of options."""
        panels: dict[str, list[tuple[str, str]]] = {title: [] for title in PANELS}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and not isinstance(parameter, click.Argument):
                panels[getattr(parameter, "panel", COMMON)].append(record)
        write_panels(panels, formatter)


def write_panels(panels: dict[str, list[tuple[str, str]]], formatter: click.HelpFormatter) -> None:
    """Write the sections of a help text that are not empty."""
    for title, records in panels.items():
        if records:
            with formatter.section(title):
                formatter.write_dl(records)


class Args(SimpleNamespace):
    """The values of the parameters of a command, by name; ``line`` is what was typed."""

    def given(self, options: Iterable[Option]) -> dict[str, Any]:
        """Return the options of a group that were given or have a default."""
        values = self.pick(*(str(option.name) for option in options))
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if is_given(value)
        }

    def pick(self, *names: str) -> dict[str, Any]:
        """Return some values; None for parameters that the command does not have."""
        return {name: vars(self).get(name) for name in names}


def command(*parameters: click.Parameter) -> Callable[[Callable[[Args], None]], Command]:
    """Return what makes a command of a function of its values, with its name and docstring."""

    def make(function: Callable[[Args], None]) -> Command:
        def run(**values: Any) -> None:
            with deferred("pandas", "scipy.stats"):
                import sklearn.base  # noqa: F401  before anything else imports it
            function(Args(**values, line=click.get_current_context().meta["line"]))

        text = inspect.cleandoc(function.__doc__ or "")
        return Command(function.__name__, params=list(parameters), help=text, callback=run)

    return make


SOURCE = argument(
    "source",
    "TABLE",
    "Table to read: a file (.csv, .csv.gz, .tsv, .parquet, .feather, .npy, .npz, .zarr, .h5ad), a "
    "folder of Parquet files, - for standard input, or the name of a data set.",
)
MAP_FILE = argument(
    "map_file",
    "MAP",
    "Map made by isosne embed or another program: a table with the coordinates (.parquet, .csv, "
    ".tsv, .feather), an array (.npy, .npz), an array of obsm (cells.h5ad:X_umap), or - for "
    "standard input.",
)
MODEL_FILE = argument(
    "model_file", "MODEL", "Model file written by isosne embed --save-model.", type=PATH
)
map_output = partial(
    option,
    "--output -o FILE",
    "File for the map: .parquet or .feather; .csv, with the provenance in FILE.json; .npy for the "
    "coordinates only; - for CSV on standard output.",
    type=str,
)
TITLE = option("--title TEXT", "Title.")
NEIGHBORS = option("--k N", "Number of neighbors per point for the measures.", default=10)
CLUSTERS = kernel_option(
    "--clusters X",
    "Find clusters with the Leiden algorithm at this resolution, such as 0.5; higher values give "
    "more clusters.",
)
OUTLIERS = kernel_option(
    "--outliers", "Give each row an outlier score from 0 (typical) to 1 (outlier)."
)
LABEL_WEIGHT = kernel_option(
    "--label-weight X",
    "owner: let the labels (--label) guide the map. Share of the affinities of a row that goes "
    "to rows with the same label, from 0 to 0.9.",
    shown="0",
)
CHECKPOINT = file_option(
    "--checkpoint FILE", "Save the state of the run to this file; resume from it if it exists."
)
SAVE_MODEL = file_option(
    "--save-model FILE",
    "Save the fitted model to this file, for isosne place and isosne extend.",
    name="model_output",
)
N_JOBS = resource_option(
    "--n-jobs N",
    "Number of threads; the result does not depend on it.",
    type=click.IntRange(min=1),
    shown="all cores",
)
MEMORY_LIMIT = resource_option(
    "--memory-limit SIZE",
    "Maximum memory to use, such as 2GB.",
    shown="ISOSNE_MEMORY_LIMIT if it is set, otherwise the free memory",
)
FORCE = file_option("--force", "Replace existing files, and accept a map of another table.")
QUIET = file_option("--quiet -q", "Print no notes and no progress.")
JSON = file_option("--json", "Print the result as one JSON object.")
LAST = (N_JOBS, MEMORY_LIMIT, FORCE, QUIET, JSON)  # options that nearly every command has

ID = option(
    "--id COLUMN",
    "Column with a unique row identifier.",
    shown="a unique column id, otherwise the row number",
)
LABEL = option("--label COLUMN", "Column with the class of each row.")
SCALE = option(
    "--scale none|minmax|standard",
    "Column scaling: minmax (0 to 1) or standard (zero mean, unit variance).",
    shown="none",
)
COLUMNS = input_option(
    "--columns COLUMN",
    "Column to use as a feature; repeat for several.",
    multiple=True,
    shown="all other columns",
)
EXCLUDE = input_option("--exclude COLUMN", "Column to ignore; repeat for several.", multiple=True)
TEXT_COLUMNS = input_option(
    "--text-columns refuse|leave_out", "What to do with text columns.", shown="refuse"
)
MISSING = input_option(
    "--missing refuse|drop",
    "What to do with rows that have missing or infinite values.",
    shown="refuse",
)
MIXED = input_option(
    "--mixed",
    "Use all columns, including text, dates and missing values; rows are compared by isolation "
    "trees instead of distances.",
    shown="numeric columns only",
)
CATEGORICAL = input_option(
    "--categorical COLUMN",
    "Numeric column to treat as categories; repeat for several. Implies --mixed.",
    multiple=True,
)
DECIMAL = input_option("--decimal .|,", "Decimal separator in text tables.", shown=".")
KEY = input_option("--key NAME", "Array to read from a .npz, .zarr or .h5ad file.", shown="X")
NUMERIC = (ID, LABEL, SCALE, COLUMNS, EXCLUDE, TEXT_COLUMNS, MISSING, DECIMAL)
TABLE = (*NUMERIC, MIXED, CATEGORICAL, KEY)
NEW_ROWS = (ID, LABEL, MISSING, DECIMAL, KEY)
"""How a table is read: of numeric columns, of any columns, of columns that a model knows."""

IMAGES = option(
    "--images FILE",
    "Images to show on hover in a page: an array (.npy) with an image per row of the table.",
    panel=PICTURE,
    type=click.Path(exists=True, dir_okay=False),
)
KERNELS = "owner|isolation|gaussian|adaptive|knn"
METRIC = kernel_option(
    "--metric euclidean|manhattan|chebyshev|cosine|mahalanobis|hamming|jaccard|gower|precomputed",
    "Distance between rows.",
    shown="euclidean, or as in the map",
)
SEED = option(
    "--random-state --seed N",
    "Random seed; the same seed gives the same result.",
    type=click.IntRange(min=0),
    default=0,
)
N_ITER = option(
    "--n-iter --max-iter N",
    "Number of optimization steps.",
    shown="250 to 500; 250 for isosne extend",
)
MAP = (
    option(
        f"--kernel {KERNELS}",
        "Kernel: how the similarity of two rows is computed.",
        shown="isolation with --psi, gaussian with --perplexity, otherwise owner",
    ),
    kernel_option(
        "--psi N[,N...]",
        "isolation: number of cells per partitioning, or a fraction of the rows; several values "
        "are averaged. Larger values resolve finer neighborhoods.",
        shown="auto",
    ),
    kernel_option(
        "--cell-size X[,X...]",
        "owner: mean number of points per cell, or a fraction of the rows; several values are "
        "averaged. Smaller values resolve finer neighborhoods.",
        shown="auto",
    ),
    kernel_option(
        "--perplexity X[,X...]",
        "gaussian: effective number of neighbors; several values are averaged.",
        shown="30, or a third of the other rows if there are fewer than 91",
    ),
    *(METRIC, SEED, N_ITER),
)


def is_given(value: Any) -> bool:
    """Return whether the value of an option was given."""
    return value is not None and value is not False and value != ()


def map_options(args: Args) -> dict[str, Any]:
    """Return the options of a map that were given, and its kernel in any case."""
    given = args.given(MAP)
    default = "isolation" if "psi" in given else "gaussian" if "perplexity" in given else "owner"
    return {"kernel": default} | given


def check_recorded(options: Any, source: str) -> dict[str, Any]:
    """Return options that a map or a model records, if they are options that read a table."""
    known = [option.name for option in TABLE]
    if not isinstance(options, dict) or not all(
        name in known and isinstance(value, bool | str | list | tuple)
        for name, value in options.items()
    ):
        raise DataError(
            f"Cannot read {source}: the record of how its table was read is damaged, or of another "
            "version of isosne. Make it again with this version."
        )
    return {name: list(v) if isinstance(v, tuple) else v for name, v in options.items()}


def refuse(when: str, hint: str = "", **options: Any) -> None:
    """Raise an error for the first of some options that is given; ``when``: "with --mixed"."""
    for name, value in options.items():
        if is_given(value):
            got = ... if value is True else value
            hint = hint or f"Leave out {keyword(name)}."
            raise ParameterError(name, f"be left out {when}", got, hint)
