"""Deformed handwritten digits in any number, as the paper takes MNIST8M ("Scalability testing").

A row is a real digit, bent by a smooth random field (elastic deformation), turned, stretched
and shifted a little. Row i depends on the seed and on i alone, so a short file is the beginning
of a long one, for any number of threads. MNIST8M itself is not rebuilt: its own deformations
were made from tangents of the 60 000 training digits.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, zoom
from sklearn.datasets import load_digits

from isosne._checks import check_count
from isosne._files import whole_file
from isosne._numba import parallel_kernel, prange
from isosne._random import RandomState, as_generator
from isosne._types import Array
from isosne.datasets.folder import find_folder, read_set
from isosne.errors import DataError, ParameterError

SIDE = 28
BLOCK = 8192
"""Rows drawn together; part of what a seed means."""
N_FIELDS = 1024
SMOOTHING = 4.0
"""Standard deviation, in pixels, of the Gaussian that smooths a field."""
BEND = 0.9
"""Largest factor of each of the two fields of a row; a field displaces by a pixel or so."""
TURN = 0.12
"""Largest rotation, in radians, and stretch and slant, as a share."""
SHIFT = 0.7
"""Largest shift, in pixels, along each axis."""
SOURCES = ("mnist70k", "mnist10k", "sklearn")

Digits = tuple[NDArray[np.uint8], NDArray[np.int64]]


class _Deformation(NamedTuple):
    """What is drawn for each of some rows, ready for the loop."""

    digits: NDArray[np.int64]
    fields: NDArray[np.int64]
    bends: NDArray[np.float32]
    affine: NDArray[np.float32]


def deformed_digits(
    n_rows: int,
    *,
    source: str | tuple[Array, Array] | None = None,
    folder: str | Path | None = None,
    random_state: RandomState = None,
) -> Digits:
    """Return deformed digits in memory.

    Parameters
    ----------
    n_rows : int
        Digits to make.
    source : {"mnist70k", "mnist10k", "sklearn"}, (images, labels) or None, default=None
        The digits to deform: a set of the data folder, scikit-learn's 8 x 8 digits enlarged, or
        images (n, 784) of bytes with their labels. None takes the first of the three names that
        is at hand; for the same rows elsewhere, name one.
    folder : path or None, default=None
        Data folder, as for `load`.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : array of uint8, shape (n_rows, 784)
        Images of 28 x 28 pixels; 0 is paper, 255 is ink.
    y : array of int
        The digit that was written, from 0 to 9.

    Notes
    -----
    Each source digit appears n_rows / n_source times, rounded up or down. Departures from the
    paper: MNIST8M is a fixed file; these digits are made by a rule of our own.

    Examples
    --------
    >>> from isosne.datasets import deformed_digits
    >>> X, y = deformed_digits(5, source="sklearn", random_state=0)
    >>> X.shape
    (5, 784)
    """
    check_count(n_rows, "n_rows", low=1, hint="MNIST8M has 8100000.")
    X = np.empty((n_rows, SIDE * SIDE), np.uint8)
    y = np.empty(n_rows, np.int64)
    start = 0
    for images, labels in _blocks(n_rows, _find_source(source, folder), random_state):
        stop = start + len(labels)
        X[start:stop], y[start:stop] = images, labels
        start = stop
    return X, y


def write_deformed_digits(
    path: str | Path,
    n_rows: int,
    *,
    source: str | tuple[Array, Array] | None = None,
    folder: str | Path | None = None,
    random_state: RandomState = None,
) -> tuple[Path, Path]:
    """Write deformed digits to a file that ``np.load(path, mmap_mode="r")`` opens.

    Parameters
    ----------
    path : path
        Where the images go; the name ends in ``.npy``. The labels go beside it, with the ending
        ``.labels.npy``. Files of these names are replaced.
    n_rows : int
        Digits to write, 784 bytes each.
    source : {"mnist70k", "mnist10k", "sklearn"}, (images, labels) or None, default=None
        The digits to deform, as for `deformed_digits`.
    folder : path or None, default=None
        Data folder, as for `load`.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Returns
    -------
    images, labels : Path
        The two files: uint8 of shape (n_rows, 784) and uint8 of shape (n_rows,).

    Notes
    -----
    Memory does not grow with `n_rows`. Both files appear under their names when all rows are
    written; an error or an interrupt leaves nothing behind.
    """
    check_count(n_rows, "n_rows", low=1, hint="MNIST8M has 8100000.")
    path = _check_target(path)
    digits = _find_source(source, folder)
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


def _check_target(path: str | Path) -> Path:
    path = Path(path)
    if path.suffix != ".npy":
        raise ParameterError(
            f"path must end in .npy; got {str(path)!r}. Name the file digits.npy, for example."
        )
    if not path.parent.is_dir():
        raise ParameterError(
            f"path must lie in a folder that exists; got {str(path)!r}. "
            f"Make the folder {str(path.parent)!r} first."
        )
    return path


def _write_header(file: BinaryIO, shape: tuple[int, ...]) -> None:
    header = {"descr": "|u1", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)


def _blocks(
    n_rows: int, source: Digits, random_state: RandomState
) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.uint8]]]:
    """Yield consecutive images and labels; each block has random numbers of its own."""
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
    """Return displacements (N_FIELDS, 28, 28, 2) of mean square 1 that vary slowly in space."""
    noise = rng.standard_normal((N_FIELDS, SIDE, SIDE, 2), np.float32)
    smooth = gaussian_filter(noise, SMOOTHING, mode="wrap", axes=(1, 2))
    return np.asarray(smooth / smooth.std(), np.float32)


def _draw(rng: np.random.Generator, digits: NDArray[np.int64]) -> _Deformation:
    """Draw the deformation of each row; all of a block, so that a shorter one begins alike."""
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
    """Fill ``out`` with digits, each pixel read from where its displacement leads.

    Shapes: images (n, 30, 30) bytes with an empty border, fields (m, 28, 28, 2), out
    (n_rows, 784), overwritten. Bilinear; beyond the border is empty. O(784 n_rows) time.
    """
    middle = np.float32((SIDE - 1) / 2)
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


def _find_source(source: str | tuple[Array, Array] | None, folder: str | Path | None) -> Digits:
    if isinstance(source, tuple) and len(source) == 2:
        return _check_source(*source)
    if source is not None and not (isinstance(source, str) and source in SOURCES):
        came = repr(source) if isinstance(source, str) else f"a {type(source).__name__}"
        raise ParameterError(
            f"source must be one of {', '.join(SOURCES)}, a tuple (images, labels) or None; "
            f"got {came}. None takes the first that is at hand."
        )
    if source == "sklearn":
        return _enlarged_digits()
    place = find_folder(folder)
    for name in SOURCES[:2] if source is None else (source,):
        found = read_set(place, name)
        if found is not None:
            return _check_source(found.X, found.y)
    if source is None:
        return _enlarged_digits()
    raise DataError(
        f"source={source!r} must be in the data folder; {place} has no {source}.npz. "
        "Set ISOSNE_DATA to the folder that holds it, or pass source='sklearn'."
    )


def _check_source(images: Array, labels: Array) -> Digits:
    images, labels = np.asarray(images), np.asarray(labels)
    if images.dtype != np.uint8 or images.shape[1:] != (SIDE * SIDE,) or len(images) == 0:
        raise DataError(
            "The images of source must be uint8 of shape (n, 784); "
            f"got {images.dtype} of shape {images.shape}. Scale them to 28 x 28 bytes."
        )
    are_bytes = labels.dtype.kind in "ui" and not np.any((labels < 0) | (labels > 255))
    if labels.shape != images.shape[:1] or not are_bytes:
        raise DataError(
            "The labels of source must be integers from 0 to 255, one for each image; "
            f"got {labels.dtype} of shape {labels.shape} for {len(images)} image(s). "
            "Pass the digit that each image shows."
        )
    return images, labels.astype(np.int64)


def _enlarged_digits() -> Digits:
    """Return scikit-learn's 1797 digits, 8 x 8, as 20 x 20 pixels in the middle of 28 x 28."""
    images, labels = load_digits(return_X_y=True)
    large = zoom(images.reshape(-1, 8, 8) / 16, (1, 2.5, 2.5), mode="grid-constant", grid_mode=True)
    ink = np.clip(1.5 * large - 0.25, 0, 1)  # enlarging blurs; more contrast makes up for it
    X = np.pad((255 * ink).round().astype(np.uint8), ((0, 0), (4, 4), (4, 4)))
    return X.reshape(-1, SIDE * SIDE), labels.astype(np.int64)
