"""Step 1 of the paper: kernels, which measure the similarity of two points.

* ``base``: the protocol and base class of all kernels
* ``isolation``: the isolation kernel of the paper (Eq. 6 and 7)
* ``monte_carlo``, ``closed_form``: the isolation kernel by sampling, and its expectation
* ``owner``, ``ownership``: the owner kernel, the default, and its law of ranks
* ``gaussian``, ``knn``: the kernels that the paper compares with (Eq. 1, App. D)
* ``given``: affinities and kernels that the user provides
* ``registry``: kernels by name
"""
