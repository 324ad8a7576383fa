"""Make the pictures of docs/explore.md: python docs/explore_screenshots.py [FOLDER].

Needs Chromium and its driver (`make browser`). With a folder, pictures in several widths, light and
dark, are written there to look at; without one, the pictures of the chapter are replaced.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from isosne.datasets import export

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

from tests.browser.conftest import NO_GPU, QUIET  # noqa: E402  the checkout is found first
from tests.browser.visitor import Visitor  # noqa: E402

SIZES = ((1440, 900), (800, 1400), (390, 844))
THEMES = ("light", "dark")


def main() -> None:
    """Start a server and a browser, and take all pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as scratch:
        export("wine", f"{scratch}/wine.csv")
        line = [sys.executable, "-m", "isosne", "explore", "wine.csv", "--label", "target"]
        line += ["--id", "id", "--scale", "minmax", "--no-browser", "--json", "-q"]
        server = subprocess.Popen(line, cwd=scratch, stdout=subprocess.PIPE, text=True)
        browser = start_browser(scratch)
        try:
            assert server.stdout is not None
            address = json.loads(server.stdout.readline())["address"]
            visitor = Visitor(browser, Path(scratch))
            take_all(visitor, address, folder)
        finally:
            browser.quit()
            server.terminate()
            server.wait()


def start_browser(folder: str) -> webdriver.Chrome:
    """Return Chromium without a window and without a graphics card."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for flag in (*QUIET, *NO_GPU, f"--user-data-dir={folder}/profile"):
        options.add_argument(flag)
    browser = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
    browser.set_script_timeout(120)
    return browser


def take_all(visitor: Visitor, address: str, folder: Path | None) -> None:
    """Take a picture of a selection and of a comparison in each size and theme."""
    for theme in THEMES if folder else THEMES[:1]:
        for width, height in SIZES if folder else SIZES[:1]:
            show(visitor, width, height, theme)
            visitor.browser.get(address)
            suffix = f"-{width}-{theme}" if folder else ""
            select_cluster(visitor)
            save(visitor, (folder or DOCS) / f"explore{suffix}.png")
            compare(visitor)
            save(visitor, (folder or DOCS) / f"explore-compare{suffix}.png")
            visitor.press("Close the second map")
            visitor.open_tab("Selection")
            visitor.press("Clear (Esc)")


def show(visitor: Visitor, width: int, height: int, theme: str) -> None:
    """Set the size of the screen and the theme of the system."""
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    visitor.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    visitor.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)


def select_cluster(visitor: Visitor) -> None:
    """Draw around the points on the left, and click one of them."""
    visitor.says("Finished, step")
    visitor.until(lambda: len(visitor.positions()) == 178, "a map")
    pixels = visitor.pixels()
    places = np.array(list(pixels.values()))
    low, high = places.min(axis=0) - 8, places.max(axis=0) + 8
    right = np.quantile(places[:, 0], 0.3)
    visitor.draw_around([low, (right, low[1]), (right, high[1]), (low[0], high[1])])
    visitor.says("rows are selected.")
    visitor.press("Is this group real?")
    visitor.says("5 maps with other seeds.")


def compare(visitor: Visitor) -> None:
    """Open the second map and its quality."""
    visitor.press("Compare with a second map")
    visitor.until(lambda: visitor.text().count("Finished, step") == 2, "two maps")
    visitor.open_tab("Quality")
    visitor.says("Gaussian kernel: area under R_NX")
    visitor.until(lambda: "estimated from" not in visitor.text(), "the final curves")


def save(visitor: Visitor, path: Path) -> None:
    """Write what is on the screen."""
    visitor.settle()
    visitor.settle()
    visitor.browser.save_screenshot(str(path))


if __name__ == "__main__":
    main()
