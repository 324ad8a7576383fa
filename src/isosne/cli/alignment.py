"""The options of an alignment, and the previous map that they name."""

from dataclasses import dataclass
from typing import Annotated, Any

from isosne.cli.map_files import read_map_file
from isosne.cli.messages import note
from isosne.cli.options import EMBEDDING, option
from isosne.errors import ParameterError, keyword


@dataclass(frozen=True)
class AlignmentOptions:
    """Keep rows near their places on a previous map."""

    align_to: Annotated[
        str | None,
        option(
            "Previous map: rows with the same identifier (--id) stay near their places on it.",
            panel=EMBEDDING,
            metavar="MAP",
        ),
    ] = None
    strength: Annotated[
        float | None,
        option(
            "Strength of the pull toward the previous places; needs --align-to. 0 only starts from "
            "the previous map.",
            panel=EMBEDDING,
            default="10",
            metavar="X",
        ),
    ] = None


def make_alignment(options: AlignmentOptions, table: Any, *, quiet: bool) -> Any:
    """Return the alignment of a table's rows, or None if no previous map is given."""
    import numpy as np

    from isosne import Alignment

    if options.align_to is None:
        if options.strength is not None:
            raise ParameterError(
                "strength",
                f"be used together with {keyword('align_to')}",
                options.strength,
                f"Add {keyword('align_to')} MAP, or leave out {keyword('strength')}.",
            )
        return None
    previous = read_map_file(options.align_to, "align_to")
    if not quiet:
        for sentence in previous.notes:
            note(sentence)
    given = {} if options.strength is None else {"strength": options.strength}
    if not previous.has_ids:
        return Alignment(previous.embedding, **given)
    if table.ids is None and previous.ids.dtype.kind == "U":
        raise ParameterError(
            "id",
            "name the column with the row identifiers of the previous map, such as "
            f"{str(previous.ids[0])!r}",
            None,
            f"Add {keyword('id')} COLUMN.",
        )
    ids = np.arange(table.rows.shape[0]) if table.ids is None else table.ids
    return Alignment(previous.embedding, ids=ids, previous_ids=previous.ids, **given)


def describe_alignment(model: Any) -> dict[str, Any]:
    """Return how far aligned rows are from their places; empty without an alignment."""
    if not hasattr(model, "alignment_"):
        return {}
    anchors, distances = model.alignment_, model.displacement_
    return {
        "alignment": {
            "n_matched": len(anchors.rows),
            "strength": float(anchors.strength),
            "scale": float(anchors.scale),
            "mean_displacement": float(distances.mean()),
        }
    }


def say_displacement(about: dict[str, Any]) -> str:
    """Return a sentence on the displacement of aligned rows, or nothing without an alignment."""
    if "alignment" not in about:
        return ""
    found = about["alignment"]
    return (
        f"{found['n_matched']:,} rows had a place on the previous map; their mean distance from it "
        f"is {100 * found['mean_displacement']:.1f} % of the radius of the map."
    )
