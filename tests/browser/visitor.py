"""What a visitor of the page of `isosne explore` does, and what there is to see."""

import numpy as np
from selenium.webdriver import ActionChains

from tests.browser.reader import Reader

ATTEMPTS = 400
"""Looks at the page, each of which takes about a tenth of a second."""
PRELUDE = """
const walk = (root, found) => {
  for (const node of root.querySelectorAll("*")) {
    found(node)
    if (node.shadowRoot) { walk(node.shadowRoot, found) }
  }
}
const texts_of = (node) => Array.from(node.childNodes)
  .filter((child) => child.nodeType == 3 && !node.matches("style, script"))
  .map((child) => child.textContent)
const model_of = (name) => Bokeh.documents[0].get_model_by_name(name)
const points_of = (name) => {
  const model = model_of(name)
  return [model, model?.renderers.find((r) => r.name == "points")]
}
"""
FIND = """
const [kind, text, number] = arguments
const hits = []
walk(document, (node) => {
  if (node.matches(kind) && node.textContent.trim() == text && node.checkVisibility()) {
    hits.push(node)
  }
})
return hits[number ?? 0]
"""
FIELD = """
const [label, number] = arguments
const hits = []
walk(document, (node) => {
  if (!node.checkVisibility()) { return }
  const is_label = node.matches("label") || (node.matches("div") && node.children.length == 0)
  if (is_label && node.textContent.trim() == label) {
    hits.push(node.getRootNode().querySelector("input, select"))
  }
  if (node.placeholder == label) { hits.push(node) }
})
return hits[number]
"""
FILE_INPUT = """
let hit = null
walk(document, (node) => {
  if (node.matches("input[type=file]") && node.checkVisibility()) { hit = hit ?? node }
})
return hit
"""
TEXT = """
const parts = []
walk(document, (node) => {
  if (node.checkVisibility()) { parts.push(...texts_of(node)) }
})
return parts.join(" ").replace(/\\s+/g, " ").toWellFormed()
"""
LOCATE = """
const [model, points] = points_of(arguments[0])
if (model == null) { return null }
const view = Bokeh.index.find_one(model)
const data = points.data_source.data
const box = view.canvas_view.el.getBoundingClientRect()
const x = Array.from(data[points.glyph.x.field]), y = Array.from(data[points.glyph.y.field])
const ids = Array.from(data.id)
return ids.map((id, i) => [
  String(id).toWellFormed(),
  box.left + view.frame.x_scale.compute(x[i]),
  box.top + view.frame.y_scale.compute(y[i]),
  x[i],
  y[i],
])
"""
PIXEL = """
const model = model_of(arguments[0])
const {canvas_view, frame} = Bokeh.index.find_one(model)
const box = canvas_view.el.getBoundingClientRect()
const x = frame.x_scale.compute(arguments[1]), y = frame.y_scale.compute(arguments[2])
return [box.left + x, box.top + y]
"""
LINES = """
const model = model_of(arguments[0])
const of = (name) => model.renderers.find((r) => r.name == name).data_source.data
const links = of("true neighbors"), marks = of("false neighbors")
return [Array.from(links.x1), Array.from(links.y1), Array.from(marks.x), Array.from(marks.y)]
"""
ROWS = """
const ids = []
walk(document, (node) => {
  if (node.matches("td:first-child > button[data-ask^=point]")) { ids.push(node.textContent) }
})
return ids
"""
BACKGROUND = "return model_of(arguments[0]).background_fill_color"
COLORS = "return Array.from(new Set(points_of(arguments[0])[1].data_source.data.c0))"
VIEW = """
const {x_range, y_range} = model_of(arguments[0])
return [x_range.start, x_range.end, y_range.start, y_range.end]
"""
FIND_TOOL = """
const model = model_of(arguments[0])
const box = Bokeh.index.find_one(model).canvas_view.el.getBoundingClientRect()
let hit = null
walk(document, (node) => {
  if (!node.title?.startsWith(arguments[1])) { return }
  const at = node.getBoundingClientRect()
  const x = at.x + at.width / 2, y = at.y + at.height / 2
  if (x > box.x && x < box.right && y > box.y && y < box.bottom) { hit = [x, y] }
})
return hit
"""
TIP = """
const parts = []
walk(document, (node) => {
  if (node.matches(".bk-Tooltip") && node.checkVisibility()) {
    walk(node.shadowRoot, (inner) => parts.push(...texts_of(inner)))
  }
})
return parts.join(" ").replace(/\\s+/g, " ").toWellFormed()
"""
WIDTH = "return Bokeh.index.find_one(model_of(arguments[0])).el.getBoundingClientRect().width"
INSPECTED = "return points_of(arguments[0])[1].data_source.inspected.indices"


class Visitor(Reader):
    """A browser that shows the page of a server."""

    def run(self, script, *arguments):
        return super().run(PRELUDE + script, *arguments)

    def until(self, condition, what):
        """Wait until something holds; return it."""
        for _ in range(ATTEMPTS):  # not seconds: the processes of a busy machine may be halted
            found = condition()
            if found:
                return found
            self.settle()
        raise AssertionError(f"{what} did not happen; the page says: {self.text()}")

    def text(self):
        return self.run(TEXT)

    def says(self, text):
        self.until(lambda: text in self.text(), repr(text))

    def press(self, text, number=0):
        """Press a button, once it can be pressed; number 1 is that of the second map."""
        button = self.until(lambda: self.run(FIND, "button", text, number), f"button {text!r}")
        self.until(button.is_enabled, f"{text!r} can be pressed")
        button.click()
        self.settle()

    def open_tab(self, text):
        self.until(lambda: self.run(FIND, ".bk-tab", text), f"the tab {text!r}").click()
        self.settle()

    def field(self, label, number=0):
        """Return the input of a label or with a placeholder; 1 is that of the second map."""
        return self.until(lambda: self.run(FIELD, label, number), f"the field {label!r}")

    def enter(self, label, value, number=0):
        """Choose an option, or replace the content of an input."""
        self.run(
            "arguments[0].value = arguments[1];"
            "arguments[0].dispatchEvent(new Event('change', {bubbles: true}))",
            self.field(label, number),
            value,
        )
        self.settle()

    def upload(self, path):
        """Choose a file in the only field for files that is visible."""
        self.until(lambda: self.run(FILE_INPUT), "a field for a file").send_keys(str(path))
        self.settle()

    def positions(self, m=0):
        """Return the place of each identifier on a map, in the units of the map."""
        found = self.run(LOCATE, f"map{m}") or []
        return {one[0]: np.array(one[3:], float) for one in found if None not in one}

    def pixels(self, m=0):
        return {one[0]: np.array(one[1:3], float) for one in self.run(LOCATE, f"map{m}")}

    def pixel_of(self, x, y, m=0):
        return np.array(self.run(PIXEL, f"map{m}", x, y))

    def lines(self, m=0):
        """Return the ends of the lines to neighbors, and the marked places."""
        x, y, u, v = (np.array(values, float) for values in self.run(LINES, f"map{m}"))
        return np.column_stack([x, y]), np.column_stack([u, v])

    def lists(self, ids):
        """Wait until the table of selected rows has exactly some identifiers."""
        self.until(lambda: sorted(self.run(ROWS)) == sorted(ids), f"a table of {ids}")

    def width_of(self, name):
        return self.run(WIDTH, name)

    def background(self, name):
        return self.run(BACKGROUND, name)

    def colors(self):
        """Return the colors of the points of the first map, as numbers."""
        return set(self.run(COLORS, "map0"))

    def inspected(self, m):
        """Return how many points are under the pointer, or linked to those that are."""
        return len(self.run(INSPECTED, f"map{m}"))

    def take_tool(self, title, m=0):
        self.click(self.until(lambda: self.run(FIND_TOOL, f"map{m}", title), f"the tool {title!r}"))

    def key(self, name):
        """Press a key."""
        ActionChains(self.browser).send_keys(name).perform()
        self.settle()

    def hover(self, pixel):
        """Move the pointer to a pixel; return the text of the tooltips."""
        self.mouse("mouseMoved", np.array(pixel) - 3)
        self.mouse("mouseMoved", pixel)
        self.settle()
        return self.run(TIP)

    def clipboard(self):
        permissions = {"permissions": ["clipboardReadWrite"]}
        self.browser.execute_cdp_cmd("Browser.grantPermissions", permissions)
        return self.browser.execute_async_script(
            "navigator.clipboard.readText().then(arguments[0])"
        )

    def limits(self, m=0):
        """Return the limits of the view of a map: left, right, bottom, top."""
        return np.array(self.run(VIEW, f"map{m}"))
