"""Options of `isosne plot` for the look of a picture, and the images of the points."""

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal

from isosne.cli.options import PICTURE, ResourceOptions, TableOptions, option
from isosne.cli.tables import find_rows, open_unscaled, read_points
from isosne.errors import DataError, ParameterError, keyword


@dataclass(frozen=True)
class PictureOptions:
    """What a picture or a page shows besides the colored points."""

    annotate: Annotated[
        bool,
        option(
            "Write the names of the classes on the map instead of a legend.",
            "--annotate",
            panel=PICTURE,
        ),
    ] = False
    contours: Annotated[
        bool,
        option(
            "Draw lines of equal density, which enclose 95, 75, 50 and 25 % of the points.",
            "--contours",
            panel=PICTURE,
        ),
    ] = False
    style: Annotated[
        Literal["screen", "paper", "slides", "dark"],
        option(
            "Sizes, fonts and colors; paper is one column wide (89 mm) with fonts of 8 points.",
            panel=PICTURE,
        ),
    ] = "screen"
    dpi: Annotated[
        float | None,
        option(
            "Resolution in pixels per inch.",
            panel=PICTURE,
            default="150; 300 with --style paper",
            min=1,
            max=2400,
            metavar="X",
        ),
    ] = None
    images: Annotated[
        str | None,
        option(
            "Images of the points, in the order of the rows: an array (.npy) with an image per "
            "row, or a table of pixels with --image-shape. A picture shows as many as have room, "
            "a page shows them on hover.",
            panel=PICTURE,
            metavar="FILE",
        ),
    ] = None
    image_shape: Annotated[
        str | None,
        option(
            "Height and width of the images in pixels, and 3 for colors.",
            panel=PICTURE,
            metavar="H,W[,3]",
        ),
    ] = None
    hover: Annotated[
        list[str] | None,
        option(
            "Column to show on hover in a page; repeat for several. Long texts are cut.",
            panel=PICTURE,
            default="all columns",
            metavar="COLUMN",
        ),
    ] = None

    @property
    def resolution(self) -> float:
        """Pixels per inch."""
        usual = 300.0 if self.style == "paper" else 150.0
        return usual if self.dpi is None else self.dpi

    def check(self, *, is_page: bool) -> None:
        """Refuse what the output cannot show."""
        asked = {"annotate": self.annotate, "contours": self.contours}
        if self.style != "screen":
            asked["style"] = True
        if not is_page:
            asked = {"hover": bool(self.hover)}
        for name, is_asked in asked.items():
            if is_asked:
                here, there = ("a page", ".png") if is_page else ("a picture", ".html")
                hint = f"Write a file that ends in {there}, or leave it out."
                raise ParameterError(name, f"be left out for {here}", hint=hint)
        if self.image_shape is not None and self.images is None:
            raise ParameterError(
                "image_shape",
                f"be used together with {keyword('images')}",
                self.image_shape,
                f"Add {keyword('images')} FILE.",
            )


def read_images(
    picture: PictureOptions, drawn: Any, options: TableOptions, resources: ResourceOptions
) -> Any:
    """Return the images of the points of a map, or None without images."""
    if picture.images is None:
        return None
    shape = _parse_shape(picture.image_shape)
    array = _open_array(picture.images)
    if array is not None and array.ndim != 2:
        return _of_points(array, drawn, picture.images)
    if shape is None:
        raise ParameterError(
            "image_shape",
            f"give the height and width of the images, which are rows of pixels in "
            f"{picture.images}",
            hint=f"Add for example {keyword('image_shape')} 28,28.",
        )
    if array is not None:
        rows = _of_points(array, drawn, picture.images)
    else:
        table = open_unscaled(picture.images, options, resources, quiet=True)
        rows = read_points(table, resources, find_rows(table, drawn))
    if rows.shape[1] != prod(shape):
        raise DataError(
            f"A row of {picture.images} must have the pixels of an image: {prod(shape):,} for "
            f"{keyword('image_shape')} {picture.image_shape}; it has {rows.shape[1]:,} columns. "
            f"Pass another shape, or leave out columns with {keyword('exclude')}."
        )
    dense = rows.toarray() if hasattr(rows, "toarray") else rows
    return dense.reshape(-1, *shape)


def _parse_shape(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    parts = text.split(",")
    is_valid = all(part.strip().isdecimal() and int(part) > 0 for part in parts)
    if not is_valid or not (len(parts) == 2 or (len(parts) == 3 and int(parts[2]) == 3)):
        raise ParameterError(
            "image_shape",
            "be height,width or height,width,3",
            text,
            "For gray images of 28 x 28 pixels, pass 28,28.",
        )
    return tuple(int(part) for part in parts)


def _open_array(source: str) -> Any:
    """Return the array of a .npy file, whose values are read when they are needed; else None."""
    import numpy as np

    path = Path(source)
    if path.suffix and not path.exists():  # without a suffix it may be a data set
        raise ParameterError("images", "be a file that exists", source, "Correct the path.")
    if path.suffix.lower() != ".npy":
        return None
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise DataError(
            f"Cannot read {source}: {error}. Save the images again with np.save."
        ) from None


def _of_points(array: Any, drawn: Any, source: str) -> Any:
    """Return the images of the points: by row number if the identifiers are row numbers."""
    n = len(drawn.embedding)
    is_numbered = "id" not in drawn.provenance.get("table", {}) and drawn.ids.dtype.kind in "iu"
    if is_numbered and drawn.ids.min() >= 0 and drawn.ids.max() < len(array):
        return array[drawn.ids]
    if len(array) == n:
        return array
    raise DataError(
        f"{source} must have one image for each point of the map; it has {len(array):,} images for "
        f"{n:,} points. Pass the images of the rows that the map was made from, in their order."
    )
