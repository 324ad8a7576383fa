"""What the commands share: the same option has the same name, default and words everywhere.

Options are the keywords of `isosne.TSNE`, of its kernels and of `isosne.files.read_table`; values
that are not text or numbers are parsed in `models`.
"""

from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import typer

from isosne.cli.errors import show_tracebacks

Source = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        show_default=False,
        help="A file of points (.csv, .tsv, .parquet, .feather, .npy, .npz, .zarr, .h5ad), a "
        "folder of Parquet files, - for standard input, or the name of a data set.",
    ),
]
Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        show_default=False,
        help="The map: .parquet, .csv, .npz, .feather; .npy holds coordinates alone, which measure "
        "and plot do not take; - writes CSV to standard output.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]


@dataclass(frozen=True)
class TableOptions:
    """Which columns of a table are what."""

    TITLE: ClassVar = "The table"

    id: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="What each row is called; all differ.")
    ] = None
    label: Annotated[str | None, typer.Option(metavar="COLUMN", help="The class of each row.")] = (
        None
    )
    columns: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column of values; repeat it. Without: all others."),
    ] = None
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column to leave out; repeat it."),
    ] = None
    text_columns: Annotated[
        str | None,
        typer.Option(
            help="Further columns that are not numeric: refuse or leave_out. Without: refuse."
        ),
    ] = None
    missing: Annotated[
        str | None,
        typer.Option(
            help="Rows in which a value is missing or infinite: refuse or drop. Without: refuse."
        ),
    ] = None
    scale: Annotated[
        str | None,
        typer.Option(
            help="Columns to 0 and 1: minmax; to mean 0, deviation 1: standard; none. "
            "Without: none.",
        ),
    ] = None
    key: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Array of a .npz, .zarr or .h5ad that holds several."),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            show_default=False,
            help="Whether a text table begins with names. Without: found out.",
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """Return what was said, be it a default."""
        return {name: value for name, value in asdict(self).items() if value not in (None, [])}

    def completed(self, provenance: dict[str, Any]) -> Self:
        """Return the options, and where none is given what a map's provenance says of its table."""
        known = provenance.get("table", {})
        return replace(self, **{k: v for k, v in known.items() if k not in self.given()})

    def with_all_columns(self) -> Self:
        """Return options under which every column but the ids can be read, of every row."""
        every = replace(self, label=None, columns=None, exclude=None, text_columns="leave_out")
        return replace(every, missing="refuse", scale="none")


@dataclass(frozen=True)
class KernelOptions:
    """Step 1: how similar two points are."""

    TITLE: ClassVar = "The kernel"

    kernel: Annotated[str, typer.Option(help="isolation, gaussian, adaptive or knn.")] = "isolation"
    psi: Annotated[
        str | None,
        typer.Option(
            metavar="N[,N...]",
            help="isolation: number of cells, or a share of the rows (0.1); several are averaged. "
            "Larger shows finer neighborhoods. Without: by rule.",
        ),
    ] = None
    n_partitions: Annotated[
        str | None,
        typer.Option(
            metavar="N|exact",
            help="isolation: random partitionings, or their limit. Without: by rule.",
        ),
    ] = None
    partition: Annotated[str | None, typer.Option(help="isolation: voronoi or forest.")] = None
    perplexity: Annotated[
        str | None,
        typer.Option(metavar="X[,X...]", help="gaussian: neighbors a point has. Without: 30."),
    ] = None
    k: Annotated[
        str | None, typer.Option(metavar="N", help="adaptive, knn: neighbors. Without: 7.")
    ] = None
    metric: Annotated[
        str | None,
        typer.Option(help="euclidean, manhattan, minkowski, cosine or precomputed."),
    ] = None
    p: Annotated[float | None, typer.Option(help="Power of the Minkowski distance.")] = None


@dataclass(frozen=True)
class MapOptions:
    """Steps 2 and 3: how the map is drawn."""

    TITLE: ClassVar = "The map"

    n_components: Annotated[int, typer.Option(help="Dimensions of the map, 1 to 3.")] = 2
    objective: Annotated[str, typer.Option(help="What is minimized: kl, nerv or jse.")] = "kl"
    dof: Annotated[float, typer.Option(help="Degrees of freedom of the map similarity.")] = 1.0
    schedule: Annotated[
        str, typer.Option(help="standard, paper, or opt_sne, which stops by itself.")
    ] = "standard"
    exaggeration: Annotated[
        float | None, typer.Option(help="Attraction to the end; 2 to 4 draws tighter clusters.")
    ] = None
    start: Annotated[str, typer.Option(help="pca, spectral, random or auto.")] = "auto"
    affinities: Annotated[str, typer.Option(help="dense, sparse, sampled or auto.")] = "auto"
    forces: Annotated[str, typer.Option(help="exact, mesh, tree or auto.")] = "auto"
    neighbors: Annotated[str, typer.Option(help="exact, approximate or auto.")] = "auto"
    mesh_accuracy: Annotated[
        float, typer.Option(help="Relative error of the forces of a mesh.")
    ] = 0.01
    theta: Annotated[
        float, typer.Option(help="Width of a tree's cell that counts as one point.")
    ] = 0.5
    random_state: Annotated[
        int, typer.Option(min=0, help="Seed; the same one gives the same map.")
    ] = 0


@dataclass(frozen=True)
class LandmarkOptions:
    """Some rows mapped for all."""

    TITLE: ClassVar = "Many rows"

    landmarks: Annotated[
        int | None, typer.Option(metavar="N", help="Rows to map, drawn across all. Without: all.")
    ] = None
    landmark_choice: Annotated[
        str | None,
        typer.Option(
            help="uniform, or spread: more of them where points are rare. Without: uniform."
        ),
    ] = None


@dataclass(frozen=True)
class ResourceOptions:
    """What a run may use."""

    TITLE: ClassVar = "Resources"

    memory_limit: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory that may be used, such as 2GB. Without: ISOSNE_MEMORY_LIMIT, else what "
            "is free.",
        ),
    ] = None
    n_jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Threads; the map does not depend on it. Without: all."
        ),
    ] = None


@dataclass(frozen=True)
class TalkOptions:
    """What a command says, and where."""

    TITLE: ClassVar = "What is said"

    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes, no progress.")] = False
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object at the end.")] = False
    debug: Annotated[
        bool,
        typer.Option(
            "--debug",
            callback=show_tracebacks,
            help="Show where in the program an error came from.",
        ),
    ] = False
