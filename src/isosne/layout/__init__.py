"""Step 3 of the paper: place the points so that map similarities match the joint probabilities."""
