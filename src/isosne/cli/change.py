"""The change from map to map, as an animation."""

from pathlib import Path
from typing import Any

from isosne.cli.cells import file_of
from isosne.cli.map_files import read_map_file
from isosne.cli.messages import note, say
from isosne.cli.options import MessageOptions
from isosne.cli.outputs import check_output, print_json
from isosne.cli.paths import check_distinct
from isosne.cli.provenance import titles_of
from isosne.cli.tables import named
from isosne.errors import ParameterError, keyword

FILMS = (".gif", ".mp4")


def write_change(
    maps: list[str], output: Path, messages: MessageOptions, *, force: bool, **unused: Any
) -> None:
    """Write an animation from map to map, colored by the labels of the last one.

    ``unused``: options that an animation does not take, by name; None is not given.
    """
    from isosne.plots import animate_between

    for path in maps:
        check_distinct({"map_file": file_of(path)}, {"output": output})
    check_output(output, FILMS, force=force)
    for name, value in unused.items():
        if value is not None:
            rule = f"be left out with {keyword('then')}"
            raise ParameterError(name, rule, value, "Points have the colors of the last map.")
    found = [read_map_file(maps[0], "map_file")]
    found += [read_map_file(path, "then") for path in maps[1:]]
    if not messages.quiet:
        for drawn in found:
            for sentence in drawn.notes:
                note(sentence)
    last = found[-1]
    label = last.provenance.get("table", {}).get("label")
    has_ids = all(drawn.has_ids for drawn in found)
    animate_between(
        [drawn.embedding for drawn in found],
        output,
        named(last.labels, label),
        ids=[drawn.ids for drawn in found] if has_ids else None,
        titles=titles_of(maps),
        force=force,
    )
    if messages.json:
        print_json({"output": str(output), "n_points": len(last.embedding), "n_maps": len(maps)})
    elif not messages.quiet:
        say(f"Wrote {output}: {len(maps)} maps, {len(last.embedding):,} points")
