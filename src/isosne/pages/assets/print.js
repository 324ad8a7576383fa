// Bokeh's canvases keep their screen size when printed, so each is replaced by a copy that fits the
// paper, which is white. Called by Bokeh when the document is ready, with `figures`.
window.addEventListener("beforeprint", () => {
  window.isosne.set_theme(false)
  document.querySelectorAll("details.settings").forEach((settings) => (settings.open = true))
  for (const figure of figures) {
    const drawn = Bokeh.index.get_by_id(figure.id)
    const slot = document.querySelector(`[data-root-id="${figure.id}"]`)
    if (drawn == null || slot == null) {
      continue
    }
    const copy = drawn.export("png").canvas
    copy.className = "copy"
    copy.removeAttribute("style")
    slot.after(copy)
  }
})
window.addEventListener("afterprint", () => {
  document.querySelectorAll("canvas.copy").forEach((copy) => copy.remove())
  window.isosne.set_theme(window.isosne.night.matches)
})
