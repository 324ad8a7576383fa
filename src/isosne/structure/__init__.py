"""Structure of data: clusters, outliers, whether there is any at all, and what labels add."""

from isosne.structure.label_test import LabelTest, label_test
from isosne.structure.null import NullTest, null_test

__all__ = ["LabelTest", "NullTest", "label_test", "null_test"]
