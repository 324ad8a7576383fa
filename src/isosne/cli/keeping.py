"""Files that a run keeps beside its map: a checkpoint, and the model."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from isosne.cli.options import FILES, Force, option
from isosne.cli.outputs import check_output
from isosne.errors import ParameterError, keyword


@dataclass(frozen=True)
class KeepOptions:
    """Files to write beside the map."""

    checkpoint: Annotated[
        Path | None,
        option(
            "Save the state of the run to this file, and resume from it if it exists.",
            panel=FILES,
            metavar="FILE",
        ),
    ] = None
    every: Annotated[
        int | None,
        option(
            "Number of steps between two saves of the checkpoint.",
            panel=FILES,
            default="50",
            metavar="N",
        ),
    ] = None
    save_model: Annotated[
        Path | None,
        option("Save the model to this file, for isosne transform.", panel=FILES, metavar="FILE"),
    ] = None
    force: Force = False

    @property
    def state(self) -> dict[str, Any]:
        """Keywords of the fit for the checkpoint."""
        keywords = {"checkpoint": self.checkpoint, "every": self.every}
        return {name: value for name, value in keywords.items() if value is not None}


def check_kept(keep: KeepOptions) -> None:
    """Refuse files that could not be written later."""
    if keep.save_model is not None:
        check_output(keep.save_model, (), force=keep.force)
    if keep.checkpoint is not None:
        check_output(keep.checkpoint, (), force=True)
    elif keep.every is not None:
        raise ParameterError(
            "every",
            f"be used together with {keyword('checkpoint')}",
            keep.every,
            f"Add {keyword('checkpoint')} FILE, or leave out {keyword('every')}.",
        )
