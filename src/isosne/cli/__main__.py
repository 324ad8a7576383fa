"""`python -m isosne.cli`, which is `isosne`."""

from isosne.cli import main

main()
