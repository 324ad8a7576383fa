"""Step 2 of the paper: joint probabilities P from similarities (Eq. 2, 3 and 9).

* ``dense``: P of all pairs, from similarities or from given affinities
* ``sparse``: P of pairs of neighbors, and any form of P as a CSR matrix
* ``sampled``: partners drawn with probability p_{j|i}, without a matrix
"""
