"""Rows of any number placed on a map, written as they come."""

from typing import Any

from isosne.cli.progress import Progress

BLOCK_ROWS, BLOCK_BYTES = 20_000, 64_000_000
"""Rows, and bytes of them, that are read and placed together: a few seconds' work."""


def write_places(model: Any, rows: Any, writer: Any, progress: Progress) -> int:
    """Place all rows in order, and return how many there are; memory holds a block of them."""
    from isosne.sources import blocks

    progress.begin("row", rows.shape[0])
    try:
        with writer:
            for part in blocks(rows, min(BLOCK_BYTES, BLOCK_ROWS * rows.row_bytes)):
                for places in model.place_blocks(rows.read(part)):
                    writer.write(places)
                progress.advance(writer.n_rows, "placed")
    finally:
        progress.end()
    return int(writer.n_rows)
