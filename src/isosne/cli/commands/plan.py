"""`isosne plan`: what a run would do, why, and the memory it takes."""

from dataclasses import asdict

import typer

from isosne.cli.models import make_model, note_unused
from isosne.cli.options import (
    KernelOptions,
    LandmarkOptions,
    MapOptions,
    ResourceOptions,
    Source,
    TableOptions,
    TalkOptions,
)
from isosne.cli.outputs import print_json
from isosne.cli.tables import open_table


def plan(
    source: Source,
    table_options: TableOptions,
    kernel: KernelOptions,
    drawing: MapOptions,
    landmarks: LandmarkOptions,
    resources: ResourceOptions,
    talk: TalkOptions,
) -> None:
    """Say what isosne embed would do with a table, and the memory it takes, without doing it.

    Example: isosne plan big.parquet --landmarks 10000
    """
    table = open_table(source, table_options, resources, quiet=talk.quiet)
    found = make_model(kernel, drawing, resources, landmarks).plan(table.rows)
    if not talk.quiet:
        note_unused(found, drawing)
    if talk.json:
        print_json(asdict(found))
    else:
        typer.echo(str(found))
