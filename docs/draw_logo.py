"""Draw the logo of the site, a few Voronoi cells: python docs/draw_logo.py."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import HalfspaceIntersection

from isosne.plots.palette import COLORS

LOGO = Path(__file__).parent / "_static" / "logo.svg"
SIDE, CORNER, GAP, DOT = 64, 13, 2.6, 3.4
"""Side of the picture, radius of its corners, width of the transparent gaps, radius of the dots."""
CENTERS = ((22, 21), (49, 13), (50, 39), (31, 44), (13, 43), (24, 57), (43, 57))
"""Denser at the lower left, where the cells are smaller; placed by eye."""
CELL_COLORS = (0, 1, 6, 3, 2, 7, 9)
"""Indices of the palette: colors that are seen on white and on black."""


def find_cell(i: int) -> NDArray[np.float64]:
    """Return the corners of a cell within the square, in order; gaps separate the cells."""
    centers = np.array(CENTERS, float)
    others = np.delete(centers, i, axis=0)
    normals = others - centers[i]
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    middles = (others + centers[i]) / 2
    bisectors = np.column_stack([normals, GAP / 2 - (normals * middles).sum(axis=1)])
    square = [[-1, 0, 0], [0, -1, 0], [1, 0, -SIDE], [0, 1, -SIDE]]
    corners = HalfspaceIntersection(np.vstack([bisectors, square]), centers[i]).intersections
    return corners[np.argsort(np.arctan2(*(corners - centers[i]).T))]


def make_logo() -> str:
    """Return the picture as SVG."""
    cells, dots = [], []
    for i, (x, y) in enumerate(CENTERS):
        # abs: rounded corners of the square may be -0.0
        places = " ".join(f"{abs(a):.1f},{abs(b):.1f}" for a, b in find_cell(i))
        cells.append(f'<polygon points="{places}" fill="{COLORS[CELL_COLORS[i]]}"/>')
        dots.append(f'<circle cx="{x}" cy="{y}" r="{DOT}"/>')
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE} {SIDE}">',
            f'<clipPath id="r"><rect width="{SIDE}" height="{SIDE}" rx="{CORNER}"/></clipPath>',
            '<g clip-path="url(#r)">',
            *cells,
            "</g>",
            '<g fill="#fff">',
            *dots,
            "</g>",
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    LOGO.write_text(make_logo(), "utf-8")
