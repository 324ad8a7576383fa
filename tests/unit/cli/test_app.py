"""The application: help, version, and what it takes to start."""

import re
import subprocess
import sys

import pytest

from isosne import __version__
from isosne.cli.app import app
from isosne.cli.options import PANELS

COMMANDS = {
    "explore": 25,
    "report": 32,
    "plot": 25,
    "embed": 35,
    "sweep": 24,
    "place": 14,
    "extend": 15,
    "measure": 21,
    "datasets": 2,
    "warm": 1,
    "info": 1,
}
"""The number of options of each command, in the order of the help."""


def test_help_lists_the_commands_in_groups_each_with_a_whole_sentence(isosne):
    told = isosne("--help").stdout
    groups = re.findall(r"^(\w.*):$", told, re.MULTILINE)
    titles = "Options, Look at maps, Make maps, New rows, Judge maps, Data, Installation"
    assert groups == titles.split(", ")
    assert re.findall(r"^  (\w+) +[A-Z].*[.]$", told, re.MULTILINE) == list(COMMANDS)


@pytest.mark.parametrize(("command", "n_options"), COMMANDS.items())
def test_the_help_of_a_command_has_its_options_in_sections_and_an_example(
    isosne, command, n_options
):
    told = isosne(command, "--help").stdout
    assert f"  Example: isosne {command}" in told
    titles = re.findall(r"^(\w.*):$", told, re.MULTILINE)
    assert titles == [title for title in ("Positional arguments", *PANELS) if title in titles]
    options = re.findall(r"^  (?:-\w, )?--[\w-]+", told, re.MULTILINE)
    assert len(options) - 1 == n_options  # but --help
    assert n_options <= 35


def test_the_same_option_is_the_same_everywhere():
    """Apart from outputs, and from the kernel of the first map that a page shows."""
    known = {}
    for name, command in app.commands.items():
        for parameter in command.params:
            if name == "datasets" or parameter.opts[0] in ("--output", "--map", "--kernel"):
                continue
            told = (parameter.help, parameter.metavar, parameter.multiple)
            if parameter.param_type_name == "option" and parameter.opts[0] != "--align-to":
                assert known.setdefault(parameter.opts[0], told) == told


def test_a_shell_completes_commands(monkeypatch, capsys):
    for name, value in {"_ISOSNE_COMPLETE": "bash_complete", "COMP_WORDS": "isosne me"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COMP_CWORD", "1")
    with pytest.raises(SystemExit):
        app(prog_name="isosne", args=[])
    assert capsys.readouterr().out == "plain,measure\n"


def test_the_version(isosne):
    assert isosne("--version").stdout == f"isosne {__version__}\n"


def test_help_imports_nothing_heavy():
    program = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from isosne.cli.app import app\n"
        "assert CliRunner().invoke(app, ['embed', '--help']).exit_code == 0\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'matplotlib', 'pandas', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.stdout == "[]\n", found.stderr


def test_without_click_the_program_says_what_to_install():
    program = "import sys\nsys.modules['click'] = None\nfrom isosne.cli import main\nmain()\n"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.returncode == 1
    assert found.stderr == (
        "Error: The command line needs the package click, which is not installed. "
        "Install it with: pip install 'isosne[cli]'\n"
    )
