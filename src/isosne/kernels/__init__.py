"""Step 1 of the paper: kernels, which measure the similarity of two points.

* ``base``: the base class of all kernels
* ``isolation``: the isolation kernel of the paper (Eq. 6 and 7)
* ``psi``: automatic choice of psi and of the number of partitionings
* ``monte_carlo``, ``closed_form``: the isolation kernel by sampling, and its expectation
* ``form_protocol``: what both of them offer
* ``voronoi``, ``forest``: partitionings, and the cell of each point
* ``counts``: how many cells two points share
* ``gaussian``, ``knn``: the kernels that the paper compares with (Eq. 1, App. D)
* ``precomputed``, ``custom``: affinities and kernels that the user provides
* ``costs``: list lengths and memory, for the plan
* ``registry``: kernels by name
"""
