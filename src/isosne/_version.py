"""The version, where the lowest module may read it."""

__version__ = "0.1.0"
