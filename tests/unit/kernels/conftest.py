"""What the tests of the kernels share."""

from tests.unit.tsne.conftest import memory

__all__ = ["memory"]
