"""Output files, checked before the work begins; rows placed block by block; results as JSON."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

from isosne._progress import Progress
from isosne.cli.messages import note
from isosne.errors import ParameterError, keyword

STDOUT = "-"
H5AD = ".h5ad"
BLOCK_ROWS, BLOCK_BYTES = 20_000, 64_000_000
"""Rows, and bytes of rows, that are read and placed together. Chosen, not measured: a block takes
a few seconds, so that progress is shown often enough."""


def check_output(path: str | Path, endings: Iterable[str], *, force: bool) -> None:
    """Refuse an output that could not be written later: wrong ending, exists, no permission."""
    from isosne._files import check_writable

    endings = tuple(endings)
    if str(path) == STDOUT and STDOUT in endings:
        return
    if endings and Path(path).suffix.lower() not in endings:
        *others, last = (ending for ending in endings if ending != STDOUT)
        known = f"{', '.join(others)} or {last}" if others else last
        raise ParameterError(
            "output", f"end in {known}", str(path), "The file type is chosen by the ending."
        )
    check_writable(Path(path), force=force)


def check_map_output(path: str, *, force: bool) -> None:
    """Refuse a map that could not be written later, or whose provenance could not."""
    from isosne.files.sidecar import check_sidecar
    from isosne.files.sinks import SINKS

    check_output(path, (*SINKS, STDOUT), force=force)
    if Path(path).suffix.lower() == ".csv":
        check_sidecar(Path(path), force=force)


def list_files(output: str) -> list[str]:
    """Return the files that a map is written to: a CSV file has its provenance beside it."""
    from isosne.files.sidecar import sidecar_path

    is_csv = Path(output).suffix.lower() == ".csv"
    return [output, str(sidecar_path(Path(output)))] if is_csv else [output]


def check_one_stdout(output: str, *, as_json: bool) -> None:
    """Refuse a map and a JSON object on the same standard output."""
    if output == STDOUT and as_json:
        raise ParameterError(
            "output",
            f"be a file if {keyword('json', True)} prints to standard output",
            STDOUT,
            f"Write the map to a file, or leave out {keyword('json', True)}.",
        )


def note_bare(output: str) -> None:
    """Print a note if the output lacks what other commands need."""
    if output.lower().endswith(".npy"):
        note(
            f"{output} holds only coordinates, in the order of the rows. "
            "Use .parquet, .csv or .npz to keep identifiers, labels and provenance."
        )


def kept_obs(output: str, source: str, table: Any) -> Any:
    """Return the columns of obs that an .h5ad map keeps of its .h5ad table; None for others."""
    if not (output.lower().endswith(H5AD) and source.lower().endswith(H5AD)):
        return None
    from isosne.files.h5ad_maps import read_obs

    obs, kept = read_obs(source), getattr(table.rows, "kept", None)
    return obs if kept is None else obs.iloc[kept]


def write_places(model: Any, rows: Any, writer: Any, progress: Progress) -> int:
    """Place all rows on the map of a model, in order; return their number.

    The rows are not scaled: the model does that. Only one block of them is in memory at a time.
    """
    from isosne.sources import blocks

    read = getattr(rows, "read_frame", rows.read)  # of mixed columns, the table itself
    progress.begin("placing row", rows.shape[0])
    try:
        with writer:
            for part in blocks(rows, min(BLOCK_BYTES, BLOCK_ROWS * rows.row_bytes)):
                for places in model.place_blocks(read(part)):
                    writer.write(places)
                progress.advance(writer.n_rows, "")
    finally:
        progress.end()
    return int(writer.n_rows)


def print_json(result: Any) -> None:
    """Print one object on standard output."""
    from isosne._files import encode_json

    typer.echo(encode_json(result))
