"""
Time series, by precomputed distances
=====================================

If a good distance for your data is not built in, compute the distances of all
pairs yourself and pass them to a kernel with ``metric="precomputed"``.

The series of this example have one of four shapes, at a random time. The Euclidean
distance compares them instant by instant, so that two copies of a shape at
different times are far apart. A better distance is one minus the largest
correlation of two series over all shifts.
"""

# sphinx_gallery_thumbnail_number = 2
import numpy as np
from matplotlib.figure import Figure

from isosne import TSNE, OwnerKernel, plots

rng = np.random.default_rng(0)
time = np.arange(128)
SHAPES = {
    "bump": lambda t: np.exp(-(t**2) / 20),
    "step and back": lambda t: ((t > -14) & (t < 14)).astype(float),
    "burst": lambda t: np.exp(-(t**2) / 80) * np.cos(t),
    "ramp": lambda t: np.where((t > -12) & (t < 12), t / 12, 0),
}
kind = np.repeat(list(SHAPES), 80)
series = np.array([SHAPES[name](time - rng.integers(25, 103)) for name in kind])
series += rng.normal(scale=0.2, size=series.shape)

figure = Figure(figsize=(8, 3), layout="constrained")
for ax, name in zip(figure.subplots(1, 4, sharey=True), SHAPES, strict=True):
    ax.plot(time, series[kind == name][:3].T, linewidth=0.8)
    ax.set_title(name)
figure

# %%
# The Fourier transform gives the correlations at all shifts at once.

centered = series - series.mean(axis=1, keepdims=True)
centered /= np.linalg.norm(centered, axis=1, keepdims=True)
spectra = np.fft.rfft(centered)
correlation = np.array(
    [np.fft.irfft(s * spectra.conj()).max(axis=1) for s in spectra]
)
distances = 1 - correlation
distances = (distances + distances.T) / 2
np.fill_diagonal(distances, 0)

maps = {
    "Euclidean distance": TSNE(random_state=0).fit_transform(series),
    "distance over all shifts": TSNE(
        OwnerKernel(metric="precomputed"), random_state=0
    ).fit_transform(distances),
}
axes = plots.plot_maps(maps, kind)
axes[0].figure
