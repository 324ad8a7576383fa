"""The command line: help, exit codes, and sentences instead of tracebacks."""

import re
import subprocess
import sys
import warnings

import pytest
import typer
from typer.testing import CliRunner

from isosne import __version__
from isosne.cli.app import app
from isosne.cli.errors import in_one_sentence, shows_tracebacks
from isosne.errors import DataError, IsosneWarning, ParameterError

runner = CliRunner()
MAPS = ("embed", "transform", "measure", "sweep", "plot", "report", "plan")
COMMANDS = (*MAPS, "paper", "datasets")


def isosne(*arguments):
    return runner.invoke(app, list(arguments))


def test_help_lists_every_command():
    found = isosne("--help")
    assert found.exit_code == 0
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", found.stdout, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_has_an_example(command):
    found = isosne(command, "--help")
    assert found.exit_code == 0
    assert f"Example: isosne {command}" in found.stdout


def test_the_version():
    assert isosne("--version").stdout == f"isosne {__version__}\n"


def test_an_unknown_command_is_wrong_use():
    found = isosne("papers")
    assert found.exit_code == 2
    assert "No such command 'papers'" in found.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ParameterError("psi must be 2 or more; got 1. Raise it."), 2),
        (DataError("The file is damaged. Copy it again."), 1),
        (OSError("No space left on device"), 1),
    ],
)
def test_an_error_is_one_sentence_and_a_traceback_only_on_demand(error, code):
    small = typer.Typer()

    @small.callback()
    def main(debug: bool = False) -> None:
        """Stand for the application."""
        shows_tracebacks.set(debug)

    def fail() -> None:
        raise error

    small.command("fail")(in_one_sentence(fail))
    found = runner.invoke(small, ["fail"])
    assert found.exit_code == code
    assert found.stderr == f"isosne: {error}\n"
    assert runner.invoke(small, ["--debug", "fail"]).exception is error


def test_a_warning_is_one_sentence_too():
    small = typer.Typer()

    def warn() -> None:
        warnings.warn("Some points are alone.", IsosneWarning, stacklevel=1)

    small.command("warn")(in_one_sentence(warn))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        found = runner.invoke(small, [])
    assert found.exit_code == 0
    assert found.stderr == "isosne: warning: Some points are alone.\n"


def test_help_imports_nothing_heavy():
    program = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from isosne.cli.app import app\n"
        "assert CliRunner().invoke(app, ['paper', '--help']).exit_code == 0\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'matplotlib', 'pandas', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.stdout == "[]\n", found.stderr


@pytest.mark.slow
def test_help_answers_at_once():
    resource = pytest.importorskip("resource")  # not on Windows
    command = [sys.executable, "-c", "from isosne.cli import main; main()", "--help"]
    seconds = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(seconds) < 0.5  # of the processor, whatever else is running; measured: 0.16 s


def test_without_typer_the_program_says_what_to_install():
    program = "import sys\nsys.modules['typer'] = None\nfrom isosne.cli import main\nmain()\n"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.returncode == 1
    assert found.stderr == (
        "isosne: the command line needs the package typer, which is not installed. "
        "Run pip install isosne[cli].\n"
    )
