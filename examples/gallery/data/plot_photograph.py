"""
Patches of a photograph
=======================

A map of small images. The points are patches of 16 x 16 pixels of a photograph
that is part of scikit-learn, and each patch is drawn at its place in the map.
"""

# sphinx_gallery_thumbnail_number = 2
import numpy as np
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from sklearn.datasets import load_sample_image

from isosne import TSNE

SIDE = 16

photograph = load_sample_image("china.jpg")
rows, columns = (size // SIDE for size in photograph.shape[:2])
cropped = photograph[: rows * SIDE, : columns * SIDE]
patches = (
    cropped.reshape(rows, SIDE, columns, SIDE, 3)
    .swapaxes(1, 2)
    .reshape(-1, SIDE, SIDE, 3)
)
print(f"{len(patches)} patches with {patches[0].size} numbers each")

figure = Figure(figsize=(7, 4.6), layout="constrained")
ax = figure.add_subplot()
ax.imshow(cropped)
ax.axis("off")
figure

# %%
Y = TSNE(random_state=0).fit_transform(patches.reshape(len(patches), -1) / 255)

width, height = np.ptp(Y, axis=0)
figure = Figure(figsize=(10, 10 * height / width), layout="constrained")
ax = figure.add_subplot(aspect="equal")
ax.scatter(*Y.T, s=0)
for place, patch in zip(Y, patches, strict=True):
    ax.add_artist(
        AnnotationBbox(OffsetImage(patch, zoom=0.8), place, frameon=False)
    )
ax.axis("off")
figure

# %%
# Patches of the sky and of the water are on the right. Trees and buildings are on
# the left, the darkest ones outermost. Patches are compared pixel by pixel, so two
# patches with the same edge in different positions are not similar.
