"""`isosne place`: place the rows of many files on an existing map, resumably."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from isosne.cli.messages import exit_interrupted, say
from isosne.cli.options import INPUT, TILES, MessageOptions, ModelFile, NJobs, option
from isosne.cli.outputs import print_json
from isosne.cli.progress import make_progress
from isosne.errors import ParameterError, keyword


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

    def as_tiles(self) -> Any:
        """Return the description of tiles for `place_files`, None if they are not wanted."""
        from isosne.jobs.tile_job import Tiles

        given = {k: v for k, v in asdict(self).items() if k != "tiles" and v not in (None, False)}
        if self.tiles is None:
            for name, value in given.items():
                raise ParameterError(
                    name,
                    f"be used together with {keyword('tiles')}",
                    value,
                    f"Add {keyword('tiles')} FOLDER.",
                )
            return None
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
    also written as tiles, for isosne plot.

    Example: isosne place model.isosne input/ -o output/ --keep id --tiles tiles/ --label label
    """
    from isosne.files.table_reader import check_exists
    from isosne.jobs.job import PlacedFiles
    from isosne.jobs.place_files import place_files

    check_exists(model_file, "model_file")
    check_exists(source, "source")
    progress = make_progress(quiet=messages.quiet)
    states: list[PlacedFiles] = []

    def show(state: PlacedFiles) -> None:
        if not states:
            progress.begin("placing part", state.n_parts, first=state.n_done)
        states.append(state)
        progress.advance(state.n_done, f"{state.n_rows:,} rows" if state.n_placed else None)

    settings = {
        "keep": [] if keep is None else keep.split(","),
        "missing": missing,
        "tiles": tiles.as_tiles(),
        "quality": quality,
        "n_jobs": n_jobs,
    }
    try:
        done = place_files(model_file, source, output, **settings, callback=show)
    except KeyboardInterrupt:
        if not states:
            raise
        raise exit_interrupted(
            f" after {states[-1].n_done:,} of {states[-1].n_parts:,} files. "
            "Run the same command again to resume."
        ) from None
    finally:
        progress.end()
    if messages.json:
        print_json(_describe(done))
    elif not messages.quiet:
        say(_summarize(done))


def _describe(done: Any) -> dict[str, Any]:
    """Return the state of a job as plain values."""
    return {**asdict(done), "output": str(done.output), "is_complete": done.is_complete}


def _summarize(done: Any) -> str:
    """Return the state of a job as a line."""
    if done.is_complete:
        found = f"Wrote {done.output}: {done.n_rows:,} rows in {done.n_parts:,} files"
        if done.n_dropped:
            found += f"; {done.n_dropped:,} rows with missing values were left out"
        if done.n_outside:
            found += f"; {done.n_outside:,} rows are outside of the tiles"
        return found if done.quality is None else f"{found}\n{_tell_quality(done.quality)}"
    n_left = done.n_parts - done.n_done
    return (
        f"Placed {done.n_placed:,} of {done.n_parts:,} files; "
        f"other processes are placing the last {n_left:,}"
    )


def _tell_quality(quality: dict[str, Any]) -> str:
    """Return the quality of the whole as a line."""
    from isosne.quality import Estimate

    names = {
        "AUC_RNX": "auc_rnx",
        f"R_NX({quality['k']})": "rnx",
        "trustworthiness": "trustworthiness",
        "continuity": "continuity",
    }
    figures = [
        f"{shown} {Estimate(quality[name], quality[f'{name}_standard_error'])}"
        for shown, name in names.items()
    ]
    return (
        f"Quality on {quality['n_sampled']:,} of {quality['n_rows']:,} rows: {', '.join(figures)}"
    )
