"""Step 2 of the paper: from similarities to joint probabilities (Eq. 2, 3 and 9)."""
