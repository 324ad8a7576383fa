"""Structure of data: clusters, outliers, and whether there is any at all."""

from isosne.structure.null import NullTest, null_test

__all__ = ["NullTest", "null_test"]
