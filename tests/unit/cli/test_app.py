"""The application: help, version, and what it takes to start."""

import re
import subprocess
import sys

import pytest

from isosne import __version__
from isosne.cli.options import PANELS

MAPS = (
    "embed",
    "transform",
    "place",
    "extend",
    "align",
    "measure",
    "sweep",
    "plot",
    "report",
    "plan",
)
COMMANDS = (*MAPS, "paper", "datasets")


def test_help_lists_every_command_with_a_whole_sentence(isosne):
    told = isosne("--help").stdout
    for command in COMMANDS:
        assert re.search(rf"^  {command} .*[.]$", told, re.MULTILINE)
    assert "..." not in told.partition("Commands:")[2]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_has_an_example(isosne, command):
    assert re.search(rf"^  Example: isosne {command}", isosne(command, "--help").stdout, re.M)


@pytest.mark.parametrize("command", COMMANDS)
def test_options_come_in_sections_the_common_ones_first(isosne, command):
    titles = re.findall(r"^(\w.*):$", isosne(command, "--help").stdout, re.MULTILINE)
    assert titles[0] in ("Arguments", PANELS[0])
    assert PANELS[0] in titles
    assert [title for title in PANELS if title in titles] == [t for t in titles if t in PANELS]


@pytest.mark.parametrize(
    "line",
    [
        (
            "--kernel <owner|isolation|gaussian|adaptive|knn> Kernel, the similarity between two "
            "rows. [default: (isolation with --psi, gaussian with --perplexity, otherwise owner)]"
        ),
        (
            "--missing <refuse|drop> What to do with rows that have missing or infinite values. "
            "[default: (refuse)]"
        ),
        (
            "--header / --no-header Whether the first line of a text file holds column names. "
            "[default: (auto-detect)]"
        ),
        (
            "--random-state, --seed N Seed of the random numbers; the same seed gives the same "
            "map. [default: 0; x>=0]"
        ),
    ],
    ids=["choices", "optional-choices", "automatic", "two-names"],
)
def test_help_lists_choices_and_defaults(isosne, line):
    assert line in " ".join(isosne("embed", "--help").stdout.split())


@pytest.mark.parametrize(("command", "place"), [("measure", "map"), ("transform", "model")])
def test_options_that_a_file_records_say_so(isosne, command, place):
    told = " ".join(isosne(command, "--help").stdout.split())
    assert f"unique row identifier. [default: (as in the {place})]" in told


def test_the_version(isosne):
    assert isosne("--version").stdout == f"isosne {__version__}\n"


def test_help_imports_nothing_heavy():
    program = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from isosne.cli.app import app\n"
        "assert CliRunner().invoke(app, ['embed', '--help']).exit_code == 0\n"
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
    assert min(seconds) < 0.5  # processor time, whatever else is running; measured: 0.16 s


def test_without_typer_the_program_says_what_to_install():
    program = "import sys\nsys.modules['typer'] = None\nfrom isosne.cli import main\nmain()\n"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.returncode == 1
    assert found.stderr == (
        "Error: The command line needs the package typer, which is not installed. "
        "Install it with: pip install 'isosne[cli]'\n"
    )
