"""Step 2 of the paper: joint probabilities P from similarities (Eq. 2, 3 and 9).

* ``conditional``: normalize rows of similarity (Eq. 2 and 9)
* ``dense``: P of all pairs, symmetrized (Eq. 3)
* ``sparse``: P of pairs of neighbors, symmetrized (Eq. 3)
* ``sampled``: partners drawn with probability p_{j|i}, without a matrix
* ``given``: P from precomputed affinities
"""
