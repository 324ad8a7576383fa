// Requests of buttons in text, of keys, and names that Bokeh does not give to its parts.
"use strict"
const send = (request) => {
  const model = globalThis.Bokeh?.documents[0]?.get_model_by_name("events")
  model?.setv({tags: [request, Date.now()]})  // the time makes each request a change
}
document.addEventListener("click", (event) => {
  const asked = event.composedPath().find((node) => node.dataset?.ask)
  if (asked) { send(asked.dataset.ask) }
})
document.addEventListener("keydown", (event) => {
  const [node] = event.composedPath()
  const is_typing = node.matches("input, select, textarea")
  const is_control = event.ctrlKey || event.metaKey || event.altKey
  if (["Enter", " "].includes(event.key) && node.matches("[role=tab], div[role=button]")) {
    node.click()
  } else if (event.key == "Escape") {
    send("clear")
  } else if (event.key.toLowerCase() == "z" && !is_typing) {
    send(is_control ? "undo" : "zoom")
  }
})
const name_parts = (root) => {
  for (const node of root.querySelectorAll("*")) {
    if (node.shadowRoot) { name_parts(node.shadowRoot) }
    if (node.matches(".bk-headers-wrapper")) { node.role = "tablist" }
    if (node.matches(".bk-tab")) {
      node.role = "tab"
      node.ariaSelected = String(node.classList.contains("bk-active"))
    }
    if (node.matches("div[title][tabindex]")) {
      node.role = "button"
      node.ariaLabel = node.title
    }
    if (node.matches("canvas")) {
      node.role = "img"
      node.ariaLabel = `Picture of ${document.title}; Search and the table list its rows`
    }
  }
}
setInterval(() => name_parts(document), 1000)
