"""
A network, by precomputed affinities
====================================

A network has no coordinates, but weights between its nodes.
``TSNE(kernel="precomputed")`` maps the nodes of a network, or any matrix of
similarities.

The nodes are characters of *Les Misérables*. The weight of two characters is the
number of chapters in which both occur (D. E. Knuth, *The Stanford GraphBase*,
1993; part of networkx).
"""

import networkx as nx
from matplotlib.collections import LineCollection

from isosne import TSNE, plots

network = nx.les_miserables_graph()
names = list(network)
weights = nx.to_numpy_array(network)

# %%
# isosne symmetrizes the matrix, and otherwise uses it as it is. With the weights
# themselves, a few main characters would attract all others. With rows that sum to
# 1, every character counts the same, as every point does in t-SNE.

shares = weights / weights.sum(axis=1, keepdims=True)
Y = TSNE(kernel="precomputed", random_state=0).fit_transform(shares)

# %%
# The communities are those of networkx, which are computed from the same weights.
# The name is that of the character with the largest sum of weights in each
# community.

communities = nx.community.louvain_communities(network, seed=0)
group = [
    next(c for c, members in enumerate(communities) if name in members)
    for name in names
]

ax = plots.plot_map(Y, group, kind="labels", legend=False, point_size=40)
lines = [(Y[names.index(a)], Y[names.index(b)]) for a, b in network.edges]
ax.add_collection(LineCollection(lines, colors="0.8", linewidths=0.5, zorder=0))
degree = dict(network.degree(weight="weight"))
for members in communities:
    name = max(members, key=degree.get)
    ax.annotate(
        name, Y[names.index(name)], xytext=(5, 5), textcoords="offset points"
    )
ax.figure
