"""Benchmarks of isosne: `python -m benchmarks [--quick] [NAME ...]`."""
