"""Draw the pictures of the README, the front page and docs/pictures.md.

Usage: python docs/draw_pictures.py [NAME ...]; without names, all. `map` and `trust`, and their
dark versions, need the file mnist10k.npz in the folder that ISOSNE_DATA names; the others need no
data. The maps are computed with the default settings.
"""

import os
import runpy
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import load_digits, make_blobs

from isosne import TSNE, GaussianKernel
from isosne.datasets import make_five_clusters
from isosne.pages import write_page
from isosne.plots import plot_map, plot_maps, save_figure
from isosne.plots.figures import find_style
from isosne.plots.paint import as_paint
from isosne.quality import compare

DOCS = Path(__file__).parent
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
DPI = 160
"""Twice the pixels of the page, at the width at which the pictures are shown there."""
FRONT_SIDE, FRONT_DPI = 4.2, 200
"""The pictures of the front page are shown at half the width of the page: the smaller the figure,
the larger its texts."""
FRONT_PICTURES = ("map", "map-dark", "trust", "trust-dark")


@cache
def mnist() -> tuple[Any, Any, Any]:
    """Return 10,000 digits, their classes and their map."""
    with np.load(Path(os.environ["ISOSNE_DATA"]) / "mnist10k.npz") as stored:
        X, y = stored["X"], stored["y"]
    return X, y, TSNE(random_state=0).fit_transform(X)


@cache
def digits() -> tuple[Any, Any, Any]:
    """Return the 1,797 digits of scikit-learn, their classes and their map."""
    X, y = load_digits(return_X_y=True)
    return X, y, TSNE(random_state=0).fit_transform(X)


@cache
def sixty() -> tuple[Any, Any]:
    """Return the map of 60 clusters in 20 dimensions, and their numbers as text."""
    X, y = make_blobs(3000, 20, centers=60, cluster_std=2.6, center_box=(-5, 5), random_state=0)
    return TSNE(random_state=0).fit_transform(X), [f"{c + 1}" for c in y]


def draw_demo() -> None:
    """Draw what `make demo` draws."""
    runpy.run_path(str(DOCS.parent / "examples" / "demo.py"))["main"](DOCS / "demo.png")


def draw_hero(style: str = "screen") -> Any:
    """Draw the paper's five clusters by ordinary t-SNE and by isosne."""
    X, y = make_five_clusters(random_state=0)
    ordinary = TSNE(GaussianKernel(30), schedule="standard", random_state=0)
    maps = {"ordinary t-SNE": ordinary, "isosne": TSNE(random_state=0)}
    fitted = {name: model.fit_transform(X) for name, model in maps.items()}
    return plot_maps(fitted, y + 1, mark=[0], annotate=True, legend=False, style=style)


def draw_hero_dark() -> Any:
    """Draw the same on a dark background."""
    return draw_hero("dark")


def make_front_axes(style: str) -> Axes:
    """Return axes that fill a square figure up to a small margin."""
    background = find_style(style).background
    figure = Figure(figsize=(FRONT_SIDE, FRONT_SIDE), layout="constrained", facecolor=background)
    return figure.add_subplot()


def draw_map(style: str = "screen") -> Any:
    """Draw the 10,000 digits with their names."""
    _, y, Y = mnist()
    return plot_map(Y, y, names=WORDS, annotate=True, style=style, ax=make_front_axes(style))


def draw_map_dark() -> Any:
    """Draw the same on a dark background."""
    return draw_map("dark")


def draw_trust(style: str = "screen") -> Any:
    """Draw the 10,000 digits colored by trust, with a color bar on the map."""
    X, y, Y = mnist()
    shown = {"names": WORDS, "annotate": y, "legend": False, "style": style}
    trust = compare(X, Y).trust()
    ax = plot_map(Y, trust, **shown, ax=make_front_axes(style))
    look, paint = find_style(style), as_paint(trust, len(Y))._replace(on_dark=style == "dark")
    bar = ax.inset_axes((0.36, 0.018, 0.28, 0.024))
    cmap = LinearSegmentedColormap.from_list("trust", paint.sample_scale(64))
    bar.pcolormesh(np.arange(64)[None], cmap=cmap)
    bar.set_axis_off()
    ends = {"size": "medium", "color": look.ink, "transform": bar.transAxes, "va": "center"}
    for x, text, side in zip((-0.05, 1.05), paint.ends, ("right", "left"), strict=True):
        bar.text(x, 0.4, f"{text} kept", **ends, ha=side)
    return ax


def draw_trust_dark() -> Any:
    """Draw the same on a dark background."""
    return draw_trust("dark")


def draw_picture_names() -> Any:
    """Draw names on a map."""
    _, y, Y = digits()
    return plot_map(Y, y, names=WORDS, annotate=True)


def draw_picture_classes() -> Any:
    """Draw 60 classes."""
    Y, labels = sixty()
    return plot_map(Y, labels, annotate=True)


def draw_picture_dark() -> Any:
    """Draw a map for a dark page."""
    _, y, Y = digits()
    return plot_map(Y, y, names=WORDS, style="dark")


def draw_picture_paper() -> Any:
    """Draw two maps for a paper."""
    X, y, Y = digits()
    maps = {"perplexity 30": TSNE(kernel="gaussian", random_state=0).fit_transform(X), "isosne": Y}
    return plot_maps(maps, y, style="paper", names=WORDS)


def draw_picture_hover() -> None:
    """Take a picture of a page whose pointer is over a point; needs Chromium (`make browser`)."""
    sys.path.insert(0, str(DOCS.parent))
    from explore_screenshots import start_browser
    from tests.browser.conftest import WAIT_FOR_MAPS
    from tests.browser.reader import Reader

    X, y, Y = digits()
    images = 16 - X.reshape(-1, 8, 8)
    shown = {"labels": y, "trust": compare(X, Y).trust(), "images": images}
    screen = {"width": 640, "height": 800, "deviceScaleFactor": 2, "mobile": False}
    with TemporaryDirectory() as folder:
        page = write_page(f"{folder}/map.html", Y, **shown, color="label")
        browser = start_browser(folder)
        try:
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
            browser.get(page.as_uri())
            browser.execute_async_script(WAIT_FOR_MAPS)
            reader = Reader(browser, Path(folder))
            reader.hover(reader.locate_points()[np.argmax(Y[:, 1] - Y[:, 0])])
            browser.save_screenshot(str(DOCS / "picture-hover.png"))
        finally:
            browser.quit()


PICTURES = {
    name.removeprefix("draw_").replace("_", "-"): draw
    for name, draw in list(globals().items())
    if name.startswith("draw_")
}


def main(names: list[str]) -> None:
    """Draw some pictures, or all, with at most 256 colors each, which makes smaller files."""
    for name in names or PICTURES:
        path = DOCS / f"{name}.png"
        axes = PICTURES[name]()
        if axes is not None:
            dpi = FRONT_DPI if name in FRONT_PICTURES else 300 if "paper" in name else DPI
            save_figure(axes, path, dpi=dpi)
        picture = Image.open(path).convert("RGB")
        picture = picture.quantize(256, kmeans=3, dither=Image.Dither.NONE)
        picture.save(path, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1:])
