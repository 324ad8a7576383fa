"""Existing maps on one page: read, joined with the rows of one table, and measured."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isosne.cli.map_files import read_map_file
from isosne.cli.map_options import Metric
from isosne.cli.messages import note, say
from isosne.cli.options import MessageOptions, ResourceOptions, TableOptions
from isosne.cli.provenance import (
    describe_origin,
    measured_metric,
    recorded_metric,
    titles_of,
)
from isosne.cli.tables import (
    check_one_stdin,
    find_rows,
    named,
    note_origin,
    open_table,
    read_points,
)
from isosne.errors import DataError


def write_maps(
    source: str,
    maps: Sequence[str],
    output: Path,
    options: TableOptions,
    resources: ResourceOptions,
    messages: MessageOptions,
    *,
    metric: Metric | None = None,
    **page: Any,
) -> int:
    """Write a page that compares maps, the first with the others; return the number of points.

    The table is read as the first map records, unless options say otherwise. ``page`` has the
    title, the seed of the sample, and whether to replace an existing file.
    """
    from isosne.pages import write_comparison

    for path in maps:
        check_one_stdin(source=source, maps=path)
    read = [read_map_file(path, "maps") for path in maps]
    found = dict(zip(titles_of(maps), read, strict=True))
    first = next(iter(found.values()))
    if not messages.quiet:
        note_origin(maps[0], first)
        for drawn in list(found.values())[1:]:
            for sentence in drawn.notes:
                note(sentence)
    options = options.completed(first.provenance, maps[0])
    table = open_table(source, options, resources, quiet=messages.quiet)
    chosen = find_rows(table, first)
    embeddings = {title: _in_order(table, drawn, first, title) for title, drawn in found.items()}
    labels = first.labels
    if table.labels is not None:
        labels = table.labels if chosen is None else table.labels[chosen]
    if not messages.quiet:
        say(f"Measuring {len(maps)} map{'s' if len(maps) > 1 else ''}")
    recorded, p = recorded_metric(first.provenance)
    words = [word for path in maps for word in ("--map", path)]
    line = ["report", source, *words, "-o", str(output)]
    write_comparison(
        output,
        read_points(table, resources, chosen),
        embeddings,
        named(labels, options.label),
        columns={"id": first.ids} if first.has_ids else None,
        metric=metric or measured_metric(table, recorded),
        p=p,
        origin=describe_origin(line, table, options),
        **page,
    )
    return len(first.embedding)


def _in_order(table: Any, drawn: Any, first: Any, title: str) -> Any:
    """Return the coordinates of a map in the order of the points of the first map."""
    import numpy as np

    every = np.arange(table.rows.shape[0])
    own, wanted = (
        every if rows is None else rows for rows in (find_rows(table, m) for m in (drawn, first))
    )
    order = np.argsort(own)
    if not np.array_equal(own[order], np.sort(wanted)):
        raise DataError(
            f"Maps that are compared must have the same points; {title} has {len(own):,} points, "
            f"which are not the {len(wanted):,} of the first map. Compare maps of the same rows."
        )
    return drawn.embedding[order[np.searchsorted(own[order], wanted)]]
