"""Step 3 of the paper: minimize the divergence of map similarities Q from probabilities P.

* ``start``: initial coordinates; ``eigenvectors``: principal components and spectral ones
* ``objectives``: KL, NeRV, JSE and user-defined ones; the map similarity of a pair
* ``schedules``: phases of the optimization
* ``descent``: gradient descent with momentum; ``anchors``: the pull of points that are held
* ``forces``: the base classes, and the parameters `Mesh` and `Tree`
* ``all_pairs``: forces over all pairs; user-defined objectives
* ``attraction``: along lists of pairs, or toward drawn partners, beside a repulsion
* ``mesh``, ``splines``, ``near_field``: repulsion by Fourier transforms and near pairs
* ``tree``: repulsion by a Barnes-Hut tree
* ``placement``: coordinates of new points on a finished map
"""
