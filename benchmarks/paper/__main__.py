"""Reproduce the tables and figures of the paper: `python -m benchmarks.paper all -o FOLDER`.

Each writes NAME.md, NAME.json and pictures to the folder. A run that was interrupted resumes when
the same command is given again.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.paper import data
from benchmarks.paper.registry import describe, reproduce
from benchmarks.paper.settings import GRIDS, Settings
from isosne.errors import IsosneError


def read_options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paper",
        description=__doc__,
        epilog=f"names:\n{describe()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="?", default="all", help="table or figure; default all")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("paper"), help="folder; default paper"
    )
    parser.add_argument(
        "--quick", action="store_true", help="coarse parameter grids and three small data sets"
    )
    parser.add_argument(
        "--sets",
        type=lambda text: tuple(text.split(",")),
        default=(),
        metavar="A,B",
        help="data sets; default all of the paper's",
    )
    parser.add_argument(
        "--grid", choices=GRIDS, help="parameter values; default fewer for larger sets"
    )
    parser.add_argument(
        "--data", type=Path, help="folder with the data sets; default ISOSNE_DATA, or a download"
    )
    parser.add_argument(
        "--list-sets", action="store_true", help="list the data sets, and where each comes from"
    )
    parser.add_argument("--n-jobs", type=int, help="threads or processes; default all cores")
    return parser.parse_args()


def main() -> None:
    """Run from the command line."""
    options = read_options()
    settings = Settings(
        options.output,
        options.quick,
        options.data,
        options.sets,
        options.grid,
        options.n_jobs,
        lambda sentence: print(sentence, file=sys.stderr),
    )
    try:
        if options.list_sets:
            print(data.describe(options.data))
            return
        reproduce(options.name, settings)
    except IsosneError as error:
        sys.exit(str(error))
    print(f"Wrote {options.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
