"""`isosne place`: place new rows on a map that does not change, of one table or of many files."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from isosne.cli import files
from isosne.cli import options as o
from isosne.cli.messages import conclude, exit_interrupted, make_progress
from isosne.cli.models import describe_model, load_model, open_new_rows, write_places
from isosne.cli.options import Args, option, refuse
from isosne.errors import keyword


@o.command(
    *(o.MODEL_FILE, o.SOURCE),
    option(
        "--output -o FILE",
        "File for the coordinates, as for isosne embed. If TABLE is a folder of files (.parquet, "
        ".feather, .arrow, .csv, .npy; subfolders included), a folder: one file per input file, "
        "with the same relative name.",
        type=str,
        required=True,
    ),
    *o.NEW_ROWS,
    option(
        "--keep COLUMN",
        "Folders: column to copy from the input, such as an identifier; repeat for several.",
        multiple=True,
    ),
    option(
        "--share K/N",
        "Folders: files to place if several processes share them; 2/8 is the second of eight.",
        shown="all",
    ),
    option(
        "--picture FILE",
        "Folders: picture of all rows (.png, .svg, .pdf), drawn at the end and colored by --label.",
    ),
    *o.LAST,
)
def place(args: Args) -> None:
    """Place new rows on an existing map, which does not change.

    Rows are read block by block, so the table need not fit in memory. Columns are matched by
    name, in any order; columns that the model does not know are ignored. Placing the files of a
    folder resumes after an interruption: the same command places only the files that are missing,
    and the results are bit-identical. With --share, several processes share the work, on one
    machine or on several that share the folder.

    Example: isosne place model.isosne new.csv -o new_map.csv
    """
    if args.output == files.PIPE or Path(args.output).suffix:
        when = f"unless {keyword('output')} is a folder"
        refuse(when, **args.pick("keep", "share", "picture"))
        _place_table(args)
    else:
        refuse(f"if {keyword('output')} is a folder", **args.pick("id", "key", "decimal"))
        _place_folder(args)


def _place_table(args: Args) -> None:
    files.check_map_output(args, "model_file", "source")
    model, known = load_model(args.model_file)
    model.set_params(n_jobs=args.n_jobs)
    rows, table, options = open_new_rows(args, model, known)
    about = files.describe_start("place", args.source, table, options)
    about |= describe_model(args.model_file)
    n_rows = write_places(args, model, rows, table, about)
    target = "the map to standard output" if args.output == files.PIPE else args.output
    result = {"output": args.output, "n_rows": n_rows, **about}
    conclude(result, f"Wrote {target}: {n_rows:,} rows", as_json=args.json)


def _place_folder(args: Args) -> None:
    """Place the rows of the files of a folder, and draw them when all files are done."""
    from isosne import PlacedFiles, place_files
    from isosne.rows.table_reader import check_exists

    check_exists(args.model_file, "model_file")
    check_exists(Path(args.source), "source")
    if args.picture is not None:
        files.check_output(args.picture, files.PICTURES, force=args.force)
    progress = make_progress()
    states: list[PlacedFiles] = []

    def show(state: PlacedFiles) -> None:
        if not states:
            progress.begin("placing part", state.n_parts, first=state.n_done)
        states.append(state)
        progress.advance(state.n_done, f"{state.n_rows:,} rows" if state.n_placed else None)

    keep = list(dict.fromkeys([*args.keep, *([args.label] if args.label else [])]))
    how: dict[str, Any] = {"keep": keep, "missing": args.missing or "refuse", "callback": show}
    try:
        done = place_files(
            args.model_file, args.source, args.output, **how, **args.pick("share", "n_jobs")
        )
    except KeyboardInterrupt:
        if not states:
            raise
        raise exit_interrupted(
            f" after {states[-1].n_done:,} of {states[-1].n_parts:,} files. "
            "Run the same command again to resume."
        ) from None
    finally:
        progress.end()
    result = {**asdict(done), "output": str(done.output), "is_complete": done.is_complete}
    conclude(result, _summarize(done), as_json=args.json)
    if args.picture is not None and done.is_complete:
        from isosne.plots import plot_placed, save_figure

        save_figure(plot_placed(args.output, args.label), args.picture, force=args.force)


def _summarize(done: Any) -> str:
    line = f"Wrote {done.output}: {done.n_rows:,} rows in {done.n_placed:,} files"
    if done.n_dropped:
        line += f"; {done.n_dropped:,} rows with missing values were left out"
    if done.n_placed < done.n_done:
        line += f"; {done.n_done - done.n_placed:,} files were there"
    if not done.is_complete:
        line += f"; {done.n_parts - done.n_done:,} of {done.n_parts:,} files are missing"
    return line
