"""`isosne place`: place new rows on a map that does not change, of one table or of many files."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from isosne.cli import options as o
from isosne.cli.files import PICTURES, PIPE, check_map_output, check_one_stdout, check_output
from isosne.cli.maps import describe_start, kept_obs, name_target, note_bare
from isosne.cli.messages import exit_interrupted, print_json, say
from isosne.cli.models import check_model, load_model, open_new_rows, write_places
from isosne.cli.options import Resources, TableOptions, option
from isosne.cli.progress import make_progress
from isosne.errors import ParameterError, keyword

DPI = 150.0
"""Resolution of a picture, as that of `isosne plot`."""


def place(
    model_file: o.ModelFile,
    source: o.Source,
    output: Annotated[
        str,
        o.output_option(
            "File for the places, as for isosne embed. Or a folder, for a folder of files "
            "(.parquet, .feather, .arrow, .csv, .npy, also in subfolders): one file per input file "
            "with the same relative name."
        ),
    ],
    identifier: o.Id = None,
    label: o.Label = None,
    missing: o.Missing = None,
    key: o.Key = None,
    keep: Annotated[
        list[str] | None,
        option(
            "Folders: column to copy from the input, such as an identifier; repeat for several.",
            metavar="COLUMN",
        ),
    ] = None,
    share: Annotated[
        str | None,
        option(
            "Folders: files to place if several processes share the work; 2/8 is the second of "
            "eight.",
            default="all",
            metavar="K/N",
        ),
    ] = None,
    quality: Annotated[
        bool,
        option(
            "Folders: measure the quality of the whole on a sample of the rows, at the end.",
            "--quality",
        ),
    ] = False,
    picture: Annotated[
        Path | None,
        option(
            "Folders: picture of all rows (.png, .svg, .pdf), drawn at the end in the colors of "
            "--label.",
            metavar="FILE",
        ),
    ] = None,
    n_jobs: o.NJobs = None,
    memory_limit: o.MemoryLimit = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Place new rows on an existing map, which does not change.

    Rows are read block by block, so that a table need not fit in memory. Columns are matched by
    name, in any order; columns that the model does not know are ignored. Placing the files of a
    folder resumes after an interruption: the same command places only the files that are missing,
    and the results are bit-identical. Several processes share the work with --share, also on
    several machines with a shared folder.

    Example: isosne place model.isosne new.csv -o new_map.csv
    """
    if output != PIPE and not Path(output).suffix:
        from isosne.rows.table_reader import check_exists

        _refuse(f"if {keyword('output')} is a folder", id=identifier, key=key)
        check_model(model_file)
        check_exists(Path(source), "source")
        if picture is not None:
            check_output(picture, PICTURES, force=force)
        kept = list(dict.fromkeys([*(keep or ()), *([label] if label else ())]))
        settings: dict[str, Any] = {"keep": kept, "missing": missing or "refuse", "share": share}
        settings |= {"quality": quality, "n_jobs": n_jobs}
        is_complete = place_folder(
            model_file, Path(source), Path(output), settings, quiet=quiet, as_json=json
        )
        if picture is not None and is_complete:
            from isosne.plots import plot_placed, save_figure

            save_figure(plot_placed(output, label), picture, dpi=DPI, force=force)
        return
    folder = {"keep": keep or None, "share": share, "quality": quality or None, "picture": picture}
    _refuse(f"unless {keyword('output')} is a folder", **folder)
    options = TableOptions(id=identifier, label=label, missing=missing, key=key)
    resources = Resources(n_jobs, memory_limit)
    _place_table(model_file, source, output, options, resources, force, quiet=quiet, as_json=json)


def _refuse(when: str, **options: Any) -> None:
    """Raise an error for options that belong to the other kind of input."""
    for name, value in options.items():
        if value is not None:
            shown = str(value) if isinstance(value, Path) else value
            raise ParameterError(name, f"be left out {when}", shown, f"Leave out {keyword(name)}.")


def _place_table(
    model_file: Path,
    source: str,
    output: str,
    options: TableOptions,
    resources: Resources,
    force: bool,
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    """Write the places of the rows of one table."""
    from isosne._files import hash_file
    from isosne.rows import MapWriter

    check_one_stdout(output, as_json=as_json)
    check_map_output(output, {"model_file": model_file, "source": source}, {}, force=force)
    model, known = load_model(model_file)
    model.set_params(n_jobs=resources.n_jobs)
    new = open_new_rows(source, model, known, options, resources, quiet=quiet)
    about = {
        **describe_start("place", source, new.table, new.options),
        "model": {"file": str(model_file), "sha256": hash_file(model_file)},
    }
    kept = {"labels": new.table.labels, "obs": kept_obs(output, source, new.table)}
    writer = MapWriter(output, new.table.ids, model.embedding_.shape[1], about, **kept, force=force)
    n_rows = write_places(model, new.rows, writer, make_progress(quiet=quiet))
    if as_json:
        print_json({"output": output, "n_rows": n_rows, **about})
    elif not quiet:
        say(f"Wrote {name_target(output)}: {n_rows:,} rows")
        note_bare(output)


def place_folder(
    model_file: Path,
    source: Path,
    output: Path,
    settings: dict[str, Any],
    *,
    quiet: bool,
    as_json: bool,
) -> bool:
    """Place the rows of the files of a folder; return whether all files are done."""
    from isosne import PlacedFiles, place_files

    progress = make_progress(quiet=quiet)
    states: list[PlacedFiles] = []

    def show(state: PlacedFiles) -> None:
        if not states:
            progress.begin("placing part", state.n_parts, first=state.n_done)
        states.append(state)
        progress.advance(state.n_done, f"{state.n_rows:,} rows" if state.n_placed else None)

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
    if as_json:
        print_json({**asdict(done), "output": str(done.output), "is_complete": done.is_complete})
    elif not quiet:
        say(_summarize(done))
    return bool(done.is_complete)


def _summarize(done: Any) -> str:
    """Return the state of a job as a line or two."""
    line = f"Wrote {done.output}: {done.n_rows:,} rows in {done.n_placed:,} files"
    if done.n_dropped:
        line += f"; {done.n_dropped:,} rows with missing values were left out"
    if done.n_placed < done.n_done:
        line += f"; {done.n_done - done.n_placed:,} files were there"
    if not done.is_complete:
        line += f"; {done.n_parts - done.n_done:,} of {done.n_parts:,} files are missing"
    return line if done.quality is None else f"{line}\n{_tell_quality(done.quality)}"


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
