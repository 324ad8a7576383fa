"""The estimator `TSNE`: Algorithms 1 and 2 of the paper, assembled from steps 1 to 3."""
