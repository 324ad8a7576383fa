"""Make the film of `isosne explore` for the README: python docs/explore_film.py [FILE].

Needs Chromium and its driver (`make browser`). Each picture is a screenshot of the page with real
data (the digits of scikit-learn) and a real run; the pointer and the caption are drawn onto it. The
server is halted while a picture is taken, so that the film does not depend on the machine.
"""

import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from explore_screenshots import DOCS, Visitor, show, start_browser
from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont
from sklearn.datasets import load_digits

SIZE = (1240, 780)
DIFFERENT = "pixel_4_4"
"""The column that sets the zeros apart."""
SCALE = 0.66
"""Size of the film in relation to the screen."""
N_COLORS = 128
MAX_BYTES = 1_000_000
CAPTION_HEIGHT = 30
STEP_SECONDS = 0.05
"""How long the server works between two pictures of a run."""
ARROW = [(0, 0), (0, 17), (4, 13), (7, 20), (10, 19), (7, 12), (13, 12)]


class Picture(NamedTuple):
    """A picture of the film, and how long it is shown."""

    image: Image.Image
    milliseconds: int


class Camera:
    """Takes pictures of the page."""

    def __init__(self, visitor: Visitor, server: subprocess.Popen[str]) -> None:
        self._visitor, self._server = visitor, server
        self.pictures: list[Picture] = []
        self.caption = ""
        self._pointer: tuple[float, float] | None = None
        font = font_manager.findfont("DejaVu Sans")
        self._font = ImageFont.truetype(font, 15)

    def take(self, milliseconds: int, pointer: Sequence[float] | None = None) -> None:
        """Take a picture that is shown for some time; the pointer stays where it was last."""
        if pointer is not None:
            self._pointer = (float(pointer[0]), float(pointer[1]))
        shot = Image.open(io.BytesIO(self._visitor.browser.get_screenshot_as_png())).convert("RGB")
        if self._pointer is not None:
            x, y = self._pointer
            arrow = [(x + dx, y + dy) for dx, dy in ARROW]
            ImageDraw.Draw(shot).polygon(arrow, fill="#ffffff", outline="#000000", width=2)
        width, height = (round(SCALE * side) for side in shot.size)
        whole = Image.new("RGB", (width, height + CAPTION_HEIGHT), "#1d2329")
        whole.paste(shot.resize((width, height), Image.Resampling.LANCZOS), (0, CAPTION_HEIGHT))
        ImageDraw.Draw(whole).text((10, 6), self.caption, fill="#ffffff", font=self._font)
        self.pictures.append(Picture(whole, milliseconds))

    def follow(self, button: str, n: int, milliseconds: int) -> None:
        """Press a button, and take pictures of the run that it starts."""
        self._visitor.press(button)
        for _ in range(n):
            self._server.send_signal(signal.SIGCONT)
            time.sleep(STEP_SECONDS)
            self._server.send_signal(signal.SIGSTOP)
            self.take(milliseconds)
        self._server.send_signal(signal.SIGCONT)

    def save(self, path: Path) -> None:
        """Write the film, in colors that are the same for all pictures."""
        chosen = [*self.pictures[:: max(len(self.pictures) // 8, 1)], self.pictures[-1]]
        width, height = chosen[0].image.size
        sheet = Image.new("RGB", (width, height * len(chosen)))
        for i, picture in enumerate(chosen):
            sheet.paste(picture.image, (0, i * height))
        palette = sheet.quantize(N_COLORS, Image.Quantize.MEDIANCUT)
        drawn = [p.image.quantize(palette=palette, dither=Image.Dither.NONE) for p in self.pictures]
        durations = [picture.milliseconds for picture in self.pictures]
        drawn[0].save(path, save_all=True, append_images=drawn[1:], duration=durations, loop=0)


def main() -> None:
    """Start a server and a browser, and make the film."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "explore.gif"
    with TemporaryDirectory() as scratch:
        write_digits(Path(scratch) / "digits.csv")
        line = [sys.executable, "-m", "isosne", "explore", "digits.csv", "--label", "digit"]
        line += ["--id", "image", "--image-shape", "8x8", "--no-browser", "--json", "-q"]
        server = subprocess.Popen(line, cwd=scratch, stdout=subprocess.PIPE, text=True)
        browser = start_browser(scratch)
        try:
            assert server.stdout is not None
            address = json.loads(server.stdout.readline())["address"]
            visitor = Visitor(browser, Path(scratch))
            show(visitor, *SIZE, "light")
            browser.get(address)
            camera = Camera(visitor, server)
            play(visitor, camera)
            camera.save(path)
        finally:
            browser.quit()
            server.send_signal(signal.SIGCONT)
            server.terminate()
            server.wait()
    seconds = sum(picture.milliseconds for picture in camera.pictures) / 1000
    sys.stdout.write(f"{path}: {path.stat().st_size:,} bytes, {seconds:.1f} s\n")
    assert path.stat().st_size < MAX_BYTES, "the film is too large for the README"


def write_digits(path: Path) -> None:
    """Write 1,797 images of digits as a table."""
    data = load_digits(as_frame=True)
    names = [f"image {i}" for i in range(len(data.target))]
    table = data.data.astype(int).assign(digit=data.target, image=names)
    table.to_csv(path, index=False)


def play(visitor: Visitor, camera: Camera) -> None:
    """Use the page as the film shows it."""
    visitor.says("Finished, step")  # everything is compiled
    visitor.open_tab("Run settings")
    camera.caption = "isosne explore digits.csv --image-shape 8x8      The map forms"
    camera.follow("Compute", 16, 110)
    visitor.says("neighbors kept")
    visitor.open_tab("Selection")
    camera.take(500)

    camera.caption = "Draw around an island: which rows are these?"
    lasso(visitor, camera)
    visitor.says("checks speak for a group")
    visitor.settle()
    camera.take(1400)

    camera.caption = "Is it real? Clusters, a null test and maps with other seeds say so"
    visitor.press("Is this group real?")
    visitor.says("on 5 of 5 maps with other seeds.")
    visitor.settle()
    camera.take(2200)

    camera.caption = "What makes it different? Color by the column that differs most"
    visitor.press(DIFFERENT)
    visitor.press("Clear (Esc)")
    visitor.settle()
    visitor.settle()
    camera.take(2000)


def lasso(visitor: Visitor, camera: Camera) -> None:
    """Draw around the zeros, and show the line while it is drawn."""
    pixels = visitor.pixels()
    zeros = np.array([pixels[f"image {i}"] for i in np.flatnonzero(load_digits().target == 0)])
    center = np.median(zeros, axis=0)
    radius = float(np.quantile(np.linalg.norm(zeros - center, axis=1), 0.97)) + 8
    angles = np.linspace(0, 2 * np.pi, 25)
    ring = center + radius * np.column_stack([np.cos(angles), np.sin(angles)])
    visitor.mouse("mouseMoved", ring[0])
    visitor.mouse("mousePressed", ring[0], "left")
    for i, place in enumerate(ring):
        visitor.mouse("mouseMoved", place, "left")
        if i % 3 == 2:
            visitor.settle()
            camera.take(90, place)
    visitor.mouse("mouseReleased", ring[-1], "left")


if __name__ == "__main__":
    main()
