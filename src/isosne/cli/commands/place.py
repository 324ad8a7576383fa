"""`isosne place`: place the rows of many files on an existing map, resumably."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from isosne.cli.messages import exit_interrupted, say
from isosne.cli.options import MessageOptions, ModelFile, NJobs, option
from isosne.cli.outputs import print_json
from isosne.cli.progress import make_progress


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
    messages: MessageOptions,
    keep: Annotated[
        str | None,
        option(
            "Columns to copy from the input, such as an identifier.",
            default="none",
            metavar="COLUMN[,COLUMN...]",
        ),
    ] = None,
    n_jobs: NJobs = None,
) -> None:
    """Place the rows of many files on an existing map.

    Resumes after an interruption: the same command places only the files that are missing, and the
    results are bit-identical. Several processes can run the same command at the same time, also on
    several machines with a shared folder; each file is placed by one of them. The folder _isosne in
    the output records what is done, and holds manifest.json in the end.

    Example: isosne place model.isosne input/ -o output/ --keep id,label
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

    names = [] if keep is None else keep.split(",")
    try:
        done = place_files(model_file, source, output, keep=names, n_jobs=n_jobs, callback=show)
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
        return f"Wrote {done.output}: {done.n_rows:,} rows in {done.n_parts:,} files"
    n_left = done.n_parts - done.n_done
    return (
        f"Placed {done.n_placed:,} of {done.n_parts:,} files; "
        f"other processes are placing the last {n_left:,}"
    )
