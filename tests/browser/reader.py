"""What a reader of a page does, and what there is to see."""

import io
import time
from itertools import pairwise

import numpy as np
from PIL import Image
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

SETTLE = """
const done = arguments[0]
setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => done())), 60)
"""
LOCATE_POINTS = """
const [number] = arguments
const maps = document.querySelectorAll(".map")
const plot = Bokeh.documents[0].roots()[number]
const glyph = plot.renderers[0].glyph, data = plot.renderers[0].data_source.data
const box = maps[number].getBoundingClientRect()
const x_of = (x) => (x - plot.x_range.start) / (plot.x_range.end - plot.x_range.start)
const y_of = (y) => (y - plot.y_range.start) / (plot.y_range.end - plot.y_range.start)
const pixels = new Array(data.row.length)
data.row.forEach((row, i) => {
  pixels[row] = [
    box.right - plot.inner_width * (1 - x_of(data[glyph.x.field][i])),
    box.bottom - plot.inner_height * y_of(data[glyph.y.field][i]),
  ]
})
return pixels
"""
CLICK_TOOL = """
const [number, title] = arguments
const find = (root) => {
  for (const node of root.querySelectorAll("*")) {
    if (node.title && node.title.startsWith(title)) { return node }
    const found = node.shadowRoot && find(node.shadowRoot)
    if (found) { return found }
  }
}
const box = find(document.querySelectorAll(".map")[number]).getBoundingClientRect()
return [box.x + box.width / 2, box.y + box.height / 2]
"""


class Reader:
    """A browser that shows a page."""

    def __init__(self, browser, saved):
        self.browser = browser
        self.saved = saved

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def settle(self):
        """Wait until the page has drawn what was asked of it."""
        self.browser.execute_async_script(SETTLE)

    def locate_points(self, number=0):
        """Return the pixel of each row of the table, on one of the maps."""
        return np.array(self.run(LOCATE_POINTS, number))

    def mouse(self, kind, pixel, button="none"):
        event = {"type": kind, "x": float(pixel[0]), "y": float(pixel[1]), "button": button}
        if kind != "mouseMoved":
            event["clickCount"] = 1
        self.browser.execute_cdp_cmd("Input.dispatchMouseEvent", event)

    def hover(self, pixel):
        """Move the pointer to a pixel; return the text of the tooltip, or None."""
        self.mouse("mouseMoved", (pixel[0] - 3, pixel[1] - 3))
        self.mouse("mouseMoved", pixel)
        self.settle()
        tip = self.browser.find_element(By.ID, "tip")
        return tip.text if tip.is_displayed() else None

    def click(self, pixel):
        self.mouse("mousePressed", pixel, "left")
        self.mouse("mouseReleased", pixel, "left")
        self.settle()

    def take_tool(self, title, number=0):
        self.click(self.run(CLICK_TOOL, number, title))

    def drag(self, *pixels):
        """Drag the pointer from one pixel to the next."""
        self.mouse("mouseMoved", pixels[0])
        self.mouse("mousePressed", pixels[0], "left")
        for start, end in pairwise(np.array(pixels)):
            for share in np.linspace(0, 1, 8):
                self.mouse("mouseMoved", (1 - share) * start + share * end, "left")
        self.mouse("mouseReleased", pixels[-1], "left")
        self.settle()

    def draw_around(self, corners):
        """Drag the pointer along the corners of a polygon."""
        self.drag(*corners, corners[0])

    def scroll(self, pixel, distance):
        """Turn the wheel at a pixel; a negative distance is away from the reader."""
        wheel = {"type": "mouseWheel", "x": float(pixel[0]), "y": float(pixel[1])}
        wheel |= {"deltaX": 0, "deltaY": distance}
        self.browser.execute_cdp_cmd("Input.dispatchMouseEvent", wheel)
        self.settle()

    def choose(self, title):
        """Color by something; return what the legend says."""
        Select(self.browser.find_element(By.ID, "choice")).select_by_visible_text(title)
        self.settle()
        return self.browser.find_element(By.ID, "legend").text

    def press(self, selector):
        self.browser.find_element(By.CSS_SELECTOR, selector).click()
        self.settle()

    def entries(self):
        return self.browser.find_elements(By.CSS_SELECTOR, "#legend .entry")

    def picture(self, number=0):
        """Return what a map looks like, as an array (height, width, 3)."""
        found = self.browser.find_elements(By.CSS_SELECTOR, ".map")[number]
        self.run("arguments[0].scrollIntoView({block: 'center'})", found)
        self.settle()
        shown = found.screenshot_as_png
        return np.asarray(Image.open(io.BytesIO(shown)).convert("RGB")).astype(int)

    def saved_file(self, name):
        return self.saved_bytes(name).decode()

    def saved_bytes(self, name):
        path = self.saved / name
        for _ in range(200):
            if path.exists():
                return path.read_bytes()
            time.sleep(0.05)
        raise AssertionError(f"{name} was not saved")


def count_pixels(picture, color, alpha, tolerance=12):
    """Count the pixels of a color that lies over white with some opacity."""
    rgb = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)])
    seen = alpha * rgb + (1 - alpha) * 255
    return int((np.abs(picture - seen).max(axis=2) <= tolerance).sum())
