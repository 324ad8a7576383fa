"""Run the command line: `python -m isosne COMMAND`."""

from isosne.cli import main

if __name__ == "__main__":
    main()
