"""Reproduction of the paper's tables and figures, with the printed values beside ours."""
