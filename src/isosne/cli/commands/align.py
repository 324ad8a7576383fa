"""`isosne align`: lay a map onto another, so that both can be compared by eye."""

from typing import Annotated

import typer

from isosne.cli.cells import file_of
from isosne.cli.map_files import read_map_file
from isosne.cli.messages import note, say
from isosne.cli.options import Force, MapFile, MessageOptions, Output
from isosne.cli.outputs import (
    STDOUT,
    check_map_output,
    check_one_stdout,
    list_files,
    note_bare,
    print_json,
)
from isosne.cli.paths import check_distinct
from isosne.cli.tables import check_one_stdin

Reference = Annotated[
    str,
    typer.Argument(metavar="REFERENCE", show_default=False, help="Map that stays as it is."),
]


def align(
    reference: Reference,
    map_file: MapFile,
    output: Output,
    messages: MessageOptions,
    force: Force = False,
) -> None:
    """Lay a map onto another, to compare them by eye.

    The map is rotated, mirrored, scaled and shifted. Rows are matched by their identifiers, or by
    position if a map has none. The residual is the
    root mean square distance between the two places of a row, relative to the radius of the
    reference. Distances within the map keep their proportions: only isosne embed --align-to makes a
    map whose rows stay at their places.

    Example: isosne align monday.parquet tuesday.parquet -o tuesday_aligned.parquet
    """
    from isosne import align_map
    from isosne.files import MapWriter

    check_one_stdout(output, as_json=messages.json)
    inputs = {"reference": file_of(reference), "map_file": file_of(map_file)}
    for file in list_files(output):
        check_distinct(inputs, {"output": file})
    check_map_output(output, force=force)
    check_one_stdin(reference=reference, map_file=map_file)
    onto = read_map_file(reference, "reference")
    moved = read_map_file(map_file, "map_file")
    if not messages.quiet:
        for sentence in (*onto.notes, *moved.notes):
            note(sentence)
    ids = {"ids": moved.ids, "onto_ids": onto.ids} if onto.has_ids and moved.has_ids else {}
    found = align_map(moved.embedding, onto.embedding, **ids)
    figures = {
        "reference": reference,
        "n_common": found.n_common,
        "residual": found.residual,
        "scale": found.similarity.factor,
        "is_mirrored": found.similarity.is_mirrored,
    }
    about = {**moved.provenance, "aligned": figures}
    n_dims = found.embedding.shape[1]
    with MapWriter(output, moved.ids, n_dims, about, labels=moved.labels, force=force) as writer:
        writer.write(found.embedding)
    if messages.json:
        print_json({"output": output, "n_rows": writer.n_rows, **figures})
    elif not messages.quiet:
        target = "the map to standard output" if output == STDOUT else output
        mirrored = ", mirrored" if found.similarity.is_mirrored else ""
        say(
            f"Wrote {target}: {writer.n_rows:,} points, {found.n_common:,} in common; residual "
            f"{100 * found.residual:.1f} % of the radius, scale "
            f"{found.similarity.factor:.3g}{mirrored}"
        )
        note_bare(output)
