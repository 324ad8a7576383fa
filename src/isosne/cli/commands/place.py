"""`isosne place`: place the rows of many files on an existing map, resumably."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from isosne.cli.models import check_model
from isosne.cli.options import INPUT, TILES, MessageOptions, ModelFile, NJobs, option
from isosne.cli.outputs import check_output
from isosne.cli.placing import report_placed, run_placing
from isosne.cli.tile_plots import PAGES, PICTURES, TileLooks, draw_tiles
from isosne.errors import ParameterError, keyword

DPI = 150.0
"""Resolution of a picture, as that of `isosne plot`."""


@dataclass(frozen=True)
class TileOptions:
    """A map as tiles, which shows any number of rows."""

    tiles: Annotated[
        Path | None,
        option(
            "Folder for the map as tiles: number of rows, classes and mean values by pixel.",
            panel=TILES,
            metavar="FOLDER",
        ),
    ] = None
    label: Annotated[
        str | None,
        option("Column with the class of each row.", panel=TILES, metavar="COLUMN"),
    ] = None
    values: Annotated[
        str | None,
        option(
            "Numeric columns whose means are kept.",
            panel=TILES,
            default="none",
            metavar="COLUMN[,COLUMN...]",
        ),
    ] = None
    trust: Annotated[
        bool,
        option(
            "Keep the mean trust: the fraction of the 10 nearest landmarks in the data that are "
            "among the 10 nearest on the map, for every 16th row.",
            "--trust",
            panel=TILES,
        ),
    ] = False
    levels: Annotated[
        int | None,
        option(
            "Number of levels; the finest has 128 * 2^N pixels along a side.",
            panel=TILES,
            default="5",
            metavar="N",
        ),
    ] = None

    picture: Annotated[
        Path | None,
        option(
            "Picture (.png, .svg, .pdf) or page (.html) of the tiles, drawn at the end. An "
            "existing file is replaced.",
            panel=TILES,
            metavar="FILE",
        ),
    ] = None

    def as_tiles(self) -> Any:
        """Return the description of tiles for `place_files`, None if they are not wanted."""
        from isosne.jobs.tile_job import Tiles

        given = {k: v for k, v in asdict(self).items() if k != "tiles" and v not in (None, False)}
        if self.tiles is None:
            for name, value in given.items():
                raise ParameterError(
                    name,
                    f"be used together with {keyword('tiles')}",
                    str(value) if isinstance(value, Path) else value,
                    f"Add {keyword('tiles')} FOLDER.",
                )
            return None
        if self.picture is not None:
            check_output(self.picture, (*PICTURES, *PAGES), force=True)
            del given["picture"]
        if self.values is not None:
            given["values"] = self.values.split(",")
        return Tiles(self.tiles, **given)


def place(
    model_file: ModelFile,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            show_default=False,
            help="Folder of .parquet, .feather, .arrow, .csv or .npy files, also in subfolders; "
            "or one such file.",
        ),
    ],
    output: Annotated[
        Path,
        option(
            "Folder for the results, one file per input file with the same relative name.",
            *("--output", "-o"),
            default=False,
            metavar="FOLDER",
        ),
    ],
    tiles: TileOptions,
    messages: MessageOptions,
    keep: Annotated[
        str | None,
        option(
            "Columns to copy from the input, such as an identifier.",
            default="none",
            metavar="COLUMN[,COLUMN...]",
        ),
    ] = None,
    missing: Annotated[
        Literal["refuse", "drop"],
        option("What to do with rows that have missing or infinite values.", panel=INPUT),
    ] = "refuse",
    quality: Annotated[
        bool,
        option(
            "Measure the quality of the whole on a sample of the rows, at the end.", "--quality"
        ),
    ] = False,
    n_jobs: NJobs = None,
) -> None:
    """Place the rows of many files on an existing map.

    Resumes after an interruption: the same command places only the files that are missing, and the
    results are bit-identical. Several processes can run the same command at the same time, also on
    several machines with a shared folder; each file is placed by one of them. The folder _isosne in
    the output records what is done, and holds manifest.json in the end. With --tiles, the map is
    also written as tiles, for isosne plot; with --picture, it is drawn, too.

    Example: isosne place model.isosne input/ -o output/ --tiles tiles/ --picture map.png
    """
    from isosne.files.table_reader import check_exists

    check_model(model_file)
    check_exists(source, "source")
    settings = {
        "keep": [] if keep is None else keep.split(","),
        "missing": missing,
        "tiles": tiles.as_tiles(),
        "quality": quality,
        "n_jobs": n_jobs,
    }
    done = run_placing(model_file, source, output, settings, messages)
    if tiles.picture is not None and done.is_complete:
        draw_tiles(str(tiles.tiles), tiles.picture, TileLooks(None, None, DPI, True))
    report_placed(done, messages)
