"""Run a job that places the rows of files, show its progress, and tell what it has done."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from isosne.cli.messages import exit_interrupted, say
from isosne.cli.options import MessageOptions
from isosne.cli.outputs import print_json
from isosne.cli.progress import make_progress


def run_placing(
    model_file: Path, source: Path, output: Path, settings: dict[str, Any], messages: MessageOptions
) -> Any:
    """Run `place_files` with some settings; return its result."""
    from isosne.jobs.job import PlacedFiles
    from isosne.jobs.place_files import place_files

    progress = make_progress(quiet=messages.quiet)
    states: list[PlacedFiles] = []

    def show(state: PlacedFiles) -> None:
        if not states:
            progress.begin("placing part", state.n_parts, first=state.n_done)
        states.append(state)
        progress.advance(state.n_done, f"{state.n_rows:,} rows" if state.n_placed else None)

    try:
        return place_files(model_file, source, output, **settings, callback=show)
    except KeyboardInterrupt:
        if not states:
            raise
        raise exit_interrupted(
            f" after {states[-1].n_done:,} of {states[-1].n_parts:,} files. "
            "Run the same command again to resume."
        ) from None
    finally:
        progress.end()


def report_placed(done: Any, messages: MessageOptions, more: dict[str, Any] | None = None) -> None:
    """Print the result of a job, as an object or as a line."""
    if messages.json:
        print_json(_describe(done) | (more or {}))
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
