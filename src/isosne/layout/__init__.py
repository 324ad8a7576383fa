"""Step 3 of the paper: minimize the divergence of map similarities Q from probabilities P.

* ``start``: initial coordinates
* ``objectives``, ``custom``: KL, NeRV, JSE, and user-defined objectives
* ``schedules``: phases of the optimization
* ``descent``: gradient descent with momentum and gains
* ``exact``: exact forces over all pairs
* ``forces``: attraction and repulsion computed separately
* ``attraction``: attraction along lists of pairs, or toward drawn partners
* ``mesh_repulsion``, ``splines``: repulsion on a mesh by Fourier transforms
* ``tree_repulsion``: repulsion by a Barnes-Hut tree
* ``force_methods``: the parameters `Mesh`, `Tree` and `Exact`
* ``pair_terms``: map similarity and objective of a single pair
* ``placement``: coordinates of new points on a finished map
* ``pull``, ``carried_start``: a previous map, whose points are held at their places
* ``procrustes``: one map laid onto another
"""
