"""
A kernel of your own
====================

A kernel is any object with ``fit(X)`` and ``similarity(A, B)``. isosne computes
probabilities from its similarities and maps them.

The points of this example are the 949 colors of the XKCD color survey, which are
part of matplotlib. The kernel compares them as the eye does: by their distance in
the CIELAB color space (CIE 1976).
"""

import numpy as np
from matplotlib.colors import XKCD_COLORS, to_rgb

from isosne import TSNE, plots

D65 = np.array([0.9505, 1.0, 1.089])
RGB_TO_XYZ = np.array(
    [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
)


class ColorKernel:
    """The exponential of minus the color difference, relative to its scale."""

    def __init__(self, scale=8.0):
        self.scale = scale

    def fit(self, X):
        self.X_ = np.asarray(X, dtype=float)
        return self

    def similarity(self, A=None, B=None):
        A = as_lab(self.X_ if A is None else A)
        B = as_lab(self.X_ if B is None else B)
        difference = np.linalg.norm(A[:, None] - B[None, :], axis=2)
        return np.exp(-difference / self.scale)


def as_lab(rgb):
    """Return colors of the sRGB space, from 0 to 1, in the CIELAB space."""
    linear = np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
    xyz = linear @ RGB_TO_XYZ.T / D65
    f = np.where(
        xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29
    )
    x, y, z = f.T
    return np.column_stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])


# %%
colors = np.array([to_rgb(code) for code in XKCD_COLORS.values()])
Y = TSNE(ColorKernel(), random_state=0).fit_transform(colors)

ax = plots.plot_map(Y, point_size=60, title="949 named colors")
ax.collections[0].remove()
ax.scatter(*Y.T, c=colors, s=60)
ax.figure

# %%
# A kernel of your own compares all pairs, in O(n²) time and memory. See
# :doc:`/extending`.
