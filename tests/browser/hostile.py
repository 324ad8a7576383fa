"""Text that runs where it is taken for markup or for code, and what a page has made of it."""

KINDS = (
    "<img src=x onerror=isosne_ran({})>",
    "</script><script>isosne_ran({})</script>",
    "\"'><svg onload=isosne_ran({})>",
    "</title></style></textarea></option></select><img src=x onerror=isosne_ran({})>",
    "--><iframe srcdoc='<script>isosne_ran({})</script>'></iframe>",
    "{{isosne_ran({})}}${isosne_ran({})}<%= isosne_ran({}) %>",
    "$$\\href{javascript:isosne_ran({})}{x}$$",
    "@{id}{safe}<b onmouseenter=isosne_ran({}) style=position:fixed;inset:0>x",
    "&lt;img src=x onerror=isosne_ran({})&gt;<details open ontoggle=isosne_ran({})>",
)
WATCH = "window.isosne_ran = (number) => { (window.top.hits ??= []).push(number) }"
"""What a page must be given before it loads, so that payloads can be noticed."""
MADE = """
const walk = (root, found) => {
  for (const node of root.querySelectorAll("*")) {
    found(node)
    if (node.shadowRoot) { walk(node.shadowRoot, found) }
  }
}
const made = (window.hits ?? []).map((number) => `${number} ran`)
walk(document, (node) => {
  for (const {name, value} of node.attributes) {
    const is_code = name.startsWith("on") || ["src", "srcdoc", "href", "xlink:href"].includes(name)
    if (is_code && value.includes("isosne_ran(")) { made.push(node.outerHTML.slice(0, 200)) }
  }
  const is_script = node.matches("script:not([type='application/json'])")
  if (is_script && node.textContent.includes("isosne_ran(")) { made.push(node.outerHTML) }
})
return made.map((text) => text.toWellFormed())
"""


def evil(number, kind=None):
    """Return a text that tells its number if it runs; the kinds take turns."""
    found = KINDS[number % len(KINDS) if kind is None else kind]
    return found.replace("({})", f"({number})")


def made_of_text(browser):
    """Return what has run, and the elements that can run, in the page of a browser."""
    return browser.execute_script(MADE)
