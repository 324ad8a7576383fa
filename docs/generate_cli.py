"""Write docs/cli.md from the commands themselves: python docs/generate_cli.py."""

from pathlib import Path

import typer

from isosne.cli.app import app

PAGE = Path(__file__).with_name("cli.md")
WIDTH = 100
HEAD = """# The command line

<!-- Written by docs/generate_cli.py from the code: change the code, then run it again. -->

From a table to a map, a picture and a verdict, without Python:

```
isosne embed wine.csv --label cultivar --id bottle --scale minmax -o map.parquet
isosne measure wine.csv map.parquet
isosne plot map.parquet -o map.png
isosne report wine.csv --label cultivar --id bottle --scale minmax -o report.html
```

Rows of any number, under a limit, with a state that survives a kill:

```
isosne plan big.parquet --landmarks 10000 --memory-limit 1.5GB
isosne embed big.parquet --landmarks 10000 --memory-limit 1.5GB --checkpoint run.isosne -o map.csv
```

Further rows on the same map:

```
isosne embed wine.csv --label cultivar --id bottle --save-model model.isosne -o map.parquet
isosne transform model.isosne new.csv -o new_map.csv
```

Options have the names of the keywords of `isosne.TSNE`, its kernels and
`isosne.files.read_table`. The seed is 0 unless `--random-state` says otherwise: the same line
gives the same map.

Maps carry how they were made: version, date, options, plan, seed, and a fingerprint of the input.
`measure` and `plot` read from it which columns are ids, labels and values, how they were scaled,
and the metric.

**Streams.** Results go to the output, or to standard output with `-o -`; tables and maps come from
standard input as `-`. What is said on the way goes to standard error: a bar on a terminal, a line
every few seconds elsewhere, nothing with `--quiet`. `--json` prints one object on standard output.

**Exit codes.** 0: done. 1: the run failed (the data, the disk, a fault of the program). 2: wrong
use (an option, a name that is not there). 130: stopped from the keyboard; the map so far, or the
checkpoint, is kept, and the last line says where.

**Outputs** take their name when they are complete, and never replace a file without `--force`.
The one exception is a map that was stopped from the keyboard without `--checkpoint`: what there
is of it is written, and its provenance says `stopped_at`.
"""


def render() -> str:
    """Return the page."""
    group = typer.main.get_command(app)
    context = group.make_context("isosne", [], resilient_parsing=True, terminal_width=WIDTH)
    parts = [HEAD]
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = command.make_context(
            name, [], parent=context, resilient_parsing=True, terminal_width=WIDTH
        )
        parts.append(f"## isosne {name}\n\n```\n{command.get_help(inner).strip()}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(render())
