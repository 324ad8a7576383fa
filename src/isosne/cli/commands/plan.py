"""`isosne plan`: the methods that a run would use, why, and the memory it takes."""

import typer

from isosne.cli.models import make_model
from isosne.cli.options import (
    EmbeddingOptions,
    KernelOptions,
    LandmarkOptions,
    MessageOptions,
    ResourceOptions,
    Source,
    TableOptions,
)
from isosne.cli.outputs import print_json
from isosne.cli.tables import open_table


def plan(
    source: Source,
    table_options: TableOptions,
    kernel: KernelOptions,
    embedding: EmbeddingOptions,
    landmarks: LandmarkOptions,
    resources: ResourceOptions,
    messages: MessageOptions,
) -> None:
    """Show which methods isosne embed would use, and the memory.

    Example: isosne plan big.parquet --landmarks 10000
    """
    table = open_table(source, table_options, resources, quiet=messages.quiet)
    found = make_model(kernel, embedding, resources, landmarks).plan(table.rows)
    if messages.json:
        print_json(found.as_dict())
    else:
        typer.echo(str(found))
