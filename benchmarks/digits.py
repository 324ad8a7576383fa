"""Deformed handwritten digits in any number, instead of MNIST8M ("Scalability testing").

Each row is a real digit after an elastic deformation (a smooth random displacement field) and a
small rotation, scaling, shear and shift. Row i depends only on the seed and on i: a short file is
the beginning of a long one, for any number of threads. MNIST8M itself is not rebuilt; it was made
with tangent vectors of the 60 000 training digits.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, zoom
from sklearn.datasets import load_digits

from benchmarks.paper.data import find_folder, read_set
from isosne._files import whole_file
from isosne._numba import parallel_kernel, prange
from isosne._random import RandomState, as_generator
from isosne._types import Array

SIDE = 28
"""Width and height of an image in pixels, as in MNIST."""
BLOCK = 8192
"""Rows whose random numbers are drawn together. Chosen; another value changes every digit."""
# The sizes of the deformations are chosen. With them digits vary and stay legible: 5 nearest
# neighbors classify 91 % of deformed digits correctly, and 95.3 % of the original ones (measured
# on the digits of scikit-learn).
N_FIELDS = 1024
"""Number of displacement fields. Each row combines two of them with random factors."""
SMOOTHING = 4.0
"""Standard deviation, in pixels, of the Gaussian filter that smooths a field."""
BEND = 0.9
"""Largest factor of a field, whose displacements have root mean square 1 pixel."""
TURN = 0.12
"""Largest rotation in radians, and largest relative scaling and shear."""
SHIFT = 0.7
"""Largest shift along each axis, in pixels."""
CONTRAST = 1.5
"""Factor of the contrast around middle gray for enlarged digits, which interpolation blurs. Chosen,
not measured."""
SOURCES = ("mnist70k", "mnist10k", "sklearn")

Digits = tuple[NDArray[np.uint8], NDArray[np.int64]]


class _Deformation(NamedTuple):
    """Random numbers of a block of rows: digits, fields and their factors, affine maps."""

    digits: NDArray[np.int64]
    fields: NDArray[np.int64]
    bends: NDArray[np.float32]
    affine: NDArray[np.float32]


def write_deformed_digits(
    path: Path, n_rows: int, *, source: str | None = None, random_state: RandomState = None
) -> tuple[Path, Path]:
    """Write digits of 784 bytes to an .npy file, and their labels to one beside it.

    ``source`` is "mnist70k" or "mnist10k" of the data folder, or "sklearn"; None uses the first
    that is available. Memory does not grow with the number of rows.
    """
    digits = _find_source(source)
    labels_path = path.with_suffix(".labels.npy")
    with (
        whole_file(path, force=True) as images_file,
        whole_file(labels_path, force=True) as labels_file,
    ):
        _write_header(images_file, (n_rows, SIDE * SIDE))
        _write_header(labels_file, (n_rows,))
        for images, labels in _blocks(n_rows, digits, random_state):
            images_file.write(images.data)
            labels_file.write(labels.data)
    return path, labels_path


def _write_header(file: BinaryIO, shape: tuple[int, ...]) -> None:
    header = {"descr": "|u1", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)


def _blocks(
    n_rows: int, source: Digits, random_state: RandomState
) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.uint8]]]:
    """Yield consecutive blocks of images and labels; each has its own random generator."""
    seed = as_generator(random_state).integers(2**32, size=4).tolist()
    rng = np.random.default_rng(seed)
    fields = _smooth_fields(rng)
    order = rng.permutation(len(source[0]))
    padded = np.pad(source[0].reshape(-1, SIDE, SIDE), ((0, 0), (1, 1), (1, 1)))
    labels = source[1].astype(np.uint8)
    for b, start in enumerate(range(0, n_rows, BLOCK)):
        block_rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(b,)))
        n_block = min(BLOCK, n_rows - start)
        digits = order[np.arange(start, start + n_block) % len(order)]
        drawn = _draw(block_rng, digits)
        images = np.empty((n_block, SIDE * SIDE), np.uint8)
        deform(padded, fields, drawn, images)
        yield images, labels[digits]


def _smooth_fields(rng: np.random.Generator) -> NDArray[np.float32]:
    """Return smooth displacements (N_FIELDS, 28, 28, 2) with root mean square 1."""
    noise = rng.standard_normal((N_FIELDS, SIDE, SIDE, 2), np.float32)
    smooth = gaussian_filter(noise, SMOOTHING, mode="wrap", axes=(1, 2))
    return np.asarray(smooth / smooth.std(), np.float32)


def _draw(rng: np.random.Generator, digits: NDArray[np.int64]) -> _Deformation:
    """Draw the deformation of each row.

    Numbers are drawn for a whole block, so that a short block is the beginning of a full one.
    """
    n_block = len(digits)
    fields = rng.integers(N_FIELDS, size=(BLOCK, 2))[:n_block]
    bends = rng.uniform(-BEND, BEND, (BLOCK, 2))[:n_block]
    turns = rng.uniform(-TURN, TURN, (BLOCK, 4))[:n_block]
    shifts = rng.uniform(-SHIFT, SHIFT, (BLOCK, 2))[:n_block]
    angle, slant, tall, wide = turns.T
    matrix = np.stack([tall, slant - angle, angle, wide], axis=1)
    affine = np.hstack([matrix, shifts]).astype(np.float32)
    return _Deformation(digits, fields, bends.astype(np.float32), affine)


@parallel_kernel
def deform(images: Array, fields: Array, drawn: _Deformation, out: Array) -> None:
    """Fill ``out`` with deformed digits: each pixel is read at its displaced position.

    Shapes: images (n, 30, 30) uint8 with a border of zeros, fields (m, 28, 28, 2), out
    (n_rows, 784), overwritten. Bilinear interpolation, 0 outside. O(784 n_rows) time.
    """
    middle = np.float32((SIDE - 1) / 2)
    # Positions are clipped to the border; 0.999 keeps r + 1 and c + 1 within the 30 pixels.
    low, high = np.float32(0), np.float32(SIDE + 0.999)
    for i in prange(out.shape[0]):
        image = images[drawn.digits[i]]
        field_a, field_b = fields[drawn.fields[i, 0]], fields[drawn.fields[i, 1]]
        bend_a, bend_b = drawn.bends[i]
        affine = drawn.affine[i]
        for row in range(SIDE):
            y = np.float32(row) - middle
            for column in range(SIDE):
                x = np.float32(column) - middle
                down = bend_a * field_a[row, column, 0] + bend_b * field_b[row, column, 0]
                right = bend_a * field_a[row, column, 1] + bend_b * field_b[row, column, 1]
                down += affine[0] * y + affine[1] * x + affine[4] + np.float32(row + 1)
                right += affine[2] * y + affine[3] * x + affine[5] + np.float32(column + 1)
                down = min(max(down, low), high)
                right = min(max(right, low), high)
                r, c = int(down), int(right)
                v, u = down - np.float32(r), right - np.float32(c)
                top = image[r, c] + u * (np.float32(image[r, c + 1]) - np.float32(image[r, c]))
                below = np.float32(image[r + 1, c + 1]) - np.float32(image[r + 1, c])
                bottom = image[r + 1, c] + u * below
                ink = top + v * (bottom - top)
                out[i, row * SIDE + column] = np.uint8(ink + np.float32(0.5))


def _find_source(source: str | None) -> Digits:
    for name in SOURCES[:2] if source is None else (source,):
        stored = read_set(find_folder(), name)
        if stored is not None:
            return np.asarray(stored.X, np.uint8), stored.y
    return _enlarged_digits()


def _enlarged_digits() -> Digits:
    """Return the 1797 digits of scikit-learn, enlarged to 20 x 20 pixels within 28 x 28.

    MNIST has the same size and margin. The values of scikit-learn are from 0 to 16.
    """
    images, labels = load_digits(return_X_y=True)
    large = zoom(images.reshape(-1, 8, 8) / 16, (1, 2.5, 2.5), mode="grid-constant", grid_mode=True)
    ink = np.clip(CONTRAST * large - (CONTRAST - 1) / 2, 0, 1)
    X = np.pad((255 * ink).round().astype(np.uint8), ((0, 0), (4, 4), (4, 4)))
    return X.reshape(-1, SIDE * SIDE), labels.astype(np.int64)
