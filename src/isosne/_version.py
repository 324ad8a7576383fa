"""The version, where the lowest module may read it."""

__version__ = "1.0.0"
