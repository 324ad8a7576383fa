"""`python -m isosne.cli`, which is `isosne`."""

from isosne.cli import main

if __name__ == "__main__":
    main()
