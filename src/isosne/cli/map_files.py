"""Map files of a command: read by the name of their option, and told from tables and models."""

from pathlib import Path
from typing import Any

from isosne.cli.options import TableOptions
from isosne.errors import ParameterError, keyword


def read_map_file(path: str, parameter: str) -> Any:
    """Read a map; an error names the parameter of the command that the path was given for."""
    from isosne.files import read_map

    try:
        return read_map(path)
    except ParameterError as error:
        if error.parameter != "path":
            raise
        raise ParameterError(parameter, error.rule, error.value, error.hint) from None


def refuse_map(path: Path, parameter: str, what: str, hint: str) -> None:
    """Raise an error if a file that must be something else is a map that isosne wrote."""
    from isosne.files.map_reader import find_provenance

    if find_provenance(path):
        raise ParameterError(parameter, f"be {what}, not a map", str(path), hint)


def refuse_map_as_table(source: str, options: TableOptions) -> None:
    """Raise an error if a table is a map that isosne wrote, unless columns of it are chosen."""
    from isosne.files.map_reader import find_provenance

    if options.columns or not (provenance := find_provenance(Path(source))):
        return
    made_of = provenance.get("input")
    name = made_of.get("source") if isinstance(made_of, dict) else None
    which = f", {name}" if isinstance(name, str) and name != "-" else ""
    raise ParameterError(
        "source",
        "be a table, not a map that isosne wrote",
        source,
        f"Name the table of the map{which}. To map the coordinates themselves, pass "
        f"{keyword('columns', ['x', 'y'])}.",
    )
