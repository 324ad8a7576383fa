"""Step 2 of the paper: joint probabilities P from similarities (Eq. 2, 3 and 9).

* ``conditional``: normalize rows of similarity (Eq. 2 and 9)
* ``symmetrize``: conditional to joint probabilities (Eq. 3)
* ``dense``: P of all pairs
* ``sparse``: P of pairs of neighbors
* ``sampled``: partners drawn with probability p_{j|i}, without a matrix
* ``given``: P from precomputed affinities
* ``csr_form``: P of any form as a CSR matrix
"""
