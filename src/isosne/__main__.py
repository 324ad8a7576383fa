"""The command line as a module: `python -m isosne COMMAND`."""

from isosne.cli import main

main()
