// Requests of buttons in texts and of keys, and names that Bokeh does not give to its parts.
"use strict"
const send = (request) => {
  const model = globalThis.Bokeh?.documents[0]?.get_model_by_name("events")
  model?.setv({tags: [request, Date.now()]})  // the time makes each request a change
}
document.addEventListener("click", (event) => {
  const {ask, copy} = event.composedPath().find((node) => node.matches?.("button"))?.dataset ?? {}
  if (ask) { send(ask) }
  if (copy) { navigator.clipboard?.writeText(copy) }  // a page from another machine may have none
})
document.addEventListener("keydown", (event) => {
  const [node] = event.composedPath(), {key} = event
  if (key == "Escape") { send("clear") }
  if (key == "z" && !node.matches("input, select")) { send("zoom") }
  if ((key == "Enter" || key == " ") && node.matches("div[role]")) { node.click() }
})
const name_parts = (root) => {
  for (const node of root.querySelectorAll("*")) {
    if (node.shadowRoot) { name_parts(node.shadowRoot) }
    if (node.matches(".bk-headers-wrapper")) { node.role = "tablist" }
    if (node.matches(".bk-tab")) {
      node.role = "tab"
      node.ariaSelected = `${node.classList.contains("bk-active")}`
    }
    if (node.matches("div[title][tabindex]")) { node.role = "button"; node.ariaLabel = node.title }
    if (node.matches(".bk-spin-btn")) { node.ariaLabel = "step"; node.tabIndex = -1 }
    if (node.matches("input[type=file]")) { node.ariaLabel = "file of a map" }
    if (node.matches("canvas")) { node.role = "img"; node.ariaLabel = `map of ${document.title}` }
  }
}
setInterval(() => name_parts(document), 1000)
