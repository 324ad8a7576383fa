"""Area "command": every option of every command with usual and strange values, on tiny files."""

import gzip
import itertools
import os
import re
import shutil
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace

import click
import numpy as np
from click.testing import CliRunner

from isosne.cli.app import COMMANDS, app
from isosne.errors import DataError

N = 24
COLUMNS = ("id", "label", "a", "b", "c", "a,b", "nosuch", "", "=1+1", "<b>", "ü", "--k")
TEXTS = ("", "plain", "<script>", "{{ x }}", "%s", "a\nb", "ü" * 300, "\u202e")
NUMBERS = ("4", "4,12", "auto", "auto,4", "0.5", "-3", "nan", "1e400", "", ",", "4,,5", "x", "0x1F")
INTEGERS = ("1", "2", "5", "23", "0", "-1", "1.5", "1e3", "nan", "x", "", "10" * 12, "\u0663")
REALS = ("0.5", "1", "3", "0", "-1", "nan", "inf", "1e308", "1e-320", "x", "")
SIZES = ("2GB", "100 MB", "1kB", "0", "-1GB", "nan", "1e400", "x", "")
SHARES = ("1/1", "1/2", "2/2", "0/2", "3/2", "1/0", "x", "", "1/2/3")
OUTPUTS = (
    *(f"out{end}" for end in (".parquet", ".csv", ".npy", ".html", ".png", ".svg", ".xyz", "")),
    *(
        "nodir/out.csv",
        ".",
        "-",
        "a b.csv",
        "ü.csv",
        "n" * 300 + ".csv",
        "kept.csv",
        "kept.png",
        "",
    ),
)
VALUES = {"X": REALS, "SIZE": SIZES, "TEXT": TEXTS, "COLUMN": COLUMNS, "K/N": SHARES}
"""Values by what the help calls them."""
OWN = {
    "n_iter": ("250", "260", "0", "-5", "1.5", "x", ""),
    "n_seeds": ("1", "2", "0", "x"),
    "null": ("1", "2", "0", "x"),
    "random_state": ("0", "7", "-1", "4294967296", "10" * 12, "x"),
    "dpi": ("72", "0", "nan", "2401", "x"),
    "n_jobs": ("1", "2", "0", "-1", "x", "10" * 12),
    "host": ("127.0.0.1", "localhost", "::1", "256.1.1.1", "nosuch.invalid", "", "a b"),
    "port": ("0", "-1", "65536", "x"),
    "key": ("X", "Y", "nosuch", "", "obsm/X"),
    "resolution": REALS,
}
"""Values by the name of an option, where the work has to stay short."""
FOREIGN = re.compile(r"divide by zero|overflow enc|invalid value enc|[Dd]eprecat|Traceback")


@cache
def fixtures():
    """Return a folder with tables, maps, a model and files that are none of these."""
    home = Path(mkdtemp(prefix="isosne-fuzz-"))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3)).round(3)
    lines = ["id,label,a,b,c"]
    lines += [f"r{i},{'uv'[i % 2]}," + ",".join(map(str, row)) for i, row in enumerate(X)]
    text = "\n".join(lines) + "\n"
    (home / "table.csv").write_text(text)
    (home / "table.csv.gz").write_bytes(gzip.compress(text.encode()))
    (home / "comma.csv").write_text(text.replace(",", ";").replace(".", ","))
    (home / "gaps.csv").write_text(text.replace("0.", "", 9).replace("u,", ",", 3))
    (home / "other.csv").write_text(text.replace("r", "s").replace("-", ""))
    (home / "empty.csv").write_text("")
    (home / "noise.parquet").write_bytes(bytes(range(256)) * 9)
    (home / "sheet.xlsx").write_bytes(b"PK\3\4")
    np.save(home / "table.npy", X)
    np.save(home / "foreign.npy", X[:, :2])
    (home / "parts").mkdir()
    for k in range(2):
        shutil.copyfile(home / "table.csv", home / "parts" / f"p{k}.csv")
    os.chdir(home)
    for name in ("table", "other"):
        for end in (".parquet", ".csv"):
            line = ["embed", f"{name}.csv", "--label", "label", "-o", f"{name}_map{end}", "-q"]
            ran = CliRunner().invoke(app, [*line, "--save-model", f"{name}{end}.isosne"])
            assert ran.exit_code == 0, ran.output
    return home


def run_command(case):
    """Run a command with some of its options."""
    home = fixtures()
    os.chdir(case.folder)
    files = sorted(str(path) for path in home.iterdir())
    command = case.pick(*(command for group in COMMANDS.values() for command in group))
    line = [command.name]
    for parameter in command.params:
        line += _draw(case, parameter, command.name, home, files)
    if command.name == "explore":
        line.append("--no-browser")
    Path("kept.csv").write_text("kept")
    case.path("kept.csv")
    case.note(" ".join(map(repr, line)))
    piped = case.pick(b"", b"a,b\n1,2\n3,4\n", (home / "table.csv").read_bytes())
    waits = import_module("isosne.cli.explore")
    waits.threading = SimpleNamespace(Event=_Ended)  # what it waits for without a limit
    ran = CliRunner().invoke(app, line, input=piped)
    _judge(case, line, ran)


class _Ended:
    """An event whose wait Ctrl-C ends at once."""

    def wait(self):
        """End `isosne explore`."""
        raise KeyboardInterrupt


def _draw(case, parameter, command, home, files):
    """Return the words of a parameter, usual ones more often than not."""
    if isinstance(parameter, click.Argument):
        return _draw_argument(case, parameter, command, home, files)
    is_needed = parameter.required or parameter.name in ("output", "label")
    if not case.happens(0.95 if is_needed else 0.12) or parameter.name == "no_browser":
        return []
    flag = case.pick(*parameter.opts)
    if parameter.is_flag:
        return [flag]
    times = case.pick(1, 1, 1, 2) if parameter.multiple or case.happens(0.05) else 1
    return [word for _ in range(times) for word in (flag, _draw_value(case, parameter, files))]


def _draw_value(case, parameter, files):
    if parameter.name in OWN:
        return case.pick(*OWN[parameter.name])
    if parameter.name in ("output", "picture", "checkpoint", "model_output"):
        return case.pick(*OUTPUTS[:6], *OUTPUTS)
    if parameter.name == "label" and case.happens(0.7):
        return "label"
    if isinstance(parameter.type, click.Choice):
        return case.pick(*parameter.type.choices, "nosuch")
    usage = str(parameter.metavar or "")
    if "..." in usage:
        return case.pick(*NUMBERS)
    if usage == "N":
        return case.pick(*INTEGERS)
    return case.pick(*VALUES.get(usage, files))


def _draw_argument(case, parameter, command, home, files):
    usual = {
        "source": ["table.csv", "table.csv", "table.csv.gz", "gaps.csv", "parts"],
        "map_file": ["table_map.parquet", "table_map.csv"],
        "model_file": ["table.parquet.isosne"],
        "action": ["list", "export"],
        "name": ["wine", "iris"],
    }[parameter.name]
    if parameter.name in ("action", "name"):
        return [case.pick(*usual, "nosuch", "")] if case.happens(0.9) else []
    if case.happens(0.75):
        return [str(home / case.pick(*usual))]
    return [case.pick(*files, "iris", "-", "nosuch.csv", "", ".", "x" * 300)]


def _judge(case, line, ran):
    """Hold the exit code, the message and the files to what is promised."""
    case.note(ran.output[-2000:])
    case.promise(ran.exit_code in (0, 1, 2), f"exit code {ran.exit_code}: {ran.exception!r}")
    case.promise("Internal error" not in ran.stderr, ran.stderr[-400:])
    case.promise(not FOREIGN.search(ran.stderr), f"a foreign message: {ran.stderr[-400:]}")
    left = {path.name for path in case.folder.iterdir()}
    case.promise(Path("kept.csv").exists(), "an existing file is gone")
    if ran.exit_code == 0:
        case.kept |= {name for name in left if not name.startswith(".")}
        return
    is_forced = "--force" in line
    case.promise(is_forced or Path("kept.csv").read_text() == "kept", "a file was replaced")
    # A run that is refused late has saved its state, its model, or the record of a job.
    states = ("--checkpoint", "--save-model")
    saved = {word for flag, word in itertools.pairwise(line) if flag in states}
    folders = {path.name for path in case.folder.iterdir() if path.is_dir()}
    case.kept |= (saved & left) | folders | {name for name in left if name.endswith(".jsonl")}
    *_, last = ran.stderr.strip().splitlines() or [""]
    case.promise(last.startswith("Error: "), f"no sentence: {ran.stderr[-400:]!r}")
    is_usage = ran.stderr.lstrip().startswith("Usage:") or "\nUsage:" in ran.stderr
    raise DataError(f"An option must be valid: {last}" if is_usage else last)
