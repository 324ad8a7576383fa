"""What axe-core finds wrong with a page, by the rules of WCAG 2.1, levels A and AA."""

from importlib.resources import files

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa")
RUN = """
const [tags, done] = arguments
const say = ({id, nodes}) => nodes.map(({target, failureSummary}) =>
  `${id} at ${target.flat().join(" ")}: ${failureSummary}`)
axe.run({runOnly: tags}).then(({violations}) => done(violations.flatMap(say)))
"""


def violations(browser):
    """Return a text for each element of the page in a browser that violates a rule."""
    browser.execute_script(files("axe_core_python").joinpath("axe.min.js").read_text("utf-8"))
    return browser.execute_async_script(RUN, TAGS)
