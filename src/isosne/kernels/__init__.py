"""Step 1 of the paper: the similarity of two points."""
