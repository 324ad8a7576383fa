// Bokeh's canvases keep the size that they have on the screen; on paper a copy of each takes the
// width there is. Run by Bokeh once the document is there, with `figures`.
window.addEventListener("beforeprint", () => {
  for (const figure of figures) {
    const drawn = Bokeh.index.get_by_id(figure.id)
    const place = document.querySelector(`[data-root-id="${figure.id}"]`)
    if (drawn == null || place == null) {
      continue
    }
    const copy = drawn.export("png").canvas
    copy.className = "copy"
    copy.removeAttribute("style")
    place.after(copy)
  }
})
window.addEventListener("afterprint", () => {
  document.querySelectorAll("canvas.copy").forEach((copy) => copy.remove())
})
