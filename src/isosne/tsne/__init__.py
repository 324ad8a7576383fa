"""The estimator: wires the steps of the paper together, plans, runs, saves and restores them."""
