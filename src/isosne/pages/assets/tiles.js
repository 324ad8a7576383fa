// Shows the tiles of the level whose pixels are about as large as those of the screen. Called by
// Bokeh when the document is ready, with
//   figure   the figure         source   the images that it shows
// The page embeds the images of all levels as JSON: about.levels[level]["column-row"].
const about = JSON.parse(document.getElementById("about").textContent)
let shown = ""

function level_in_view() {
  const pixels = Math.max(figure.inner_width ?? 0, about.tile)
  const span = figure.x_range.end - figure.x_range.start
  const wanted = Math.ceil(Math.log2((about.side / span) * (pixels / about.tile)) - 0.25)
  return Math.min(Math.max(wanted, 0), about.levels.length - 1)
}

function numbers_in_view(range, first, side, n) {
  const low = Math.max(Math.floor((range.start - first) / side), 0)
  const high = Math.min(Math.floor((range.end - first) / side), n - 1)
  return Array.from({length: Math.max(high - low + 1, 0)}, (_, i) => low + i)
}

function show() {
  const level = level_in_view()
  const n = 2 ** level
  const side = about.side / n
  const data = {url: [], x: [], y: [], side: []}
  const names = []
  for (const column of numbers_in_view(figure.x_range, about.left, side, n)) {
    for (const row of numbers_in_view(figure.y_range, about.bottom, side, n)) {
      const name = `${column}-${row}`
      const image = about.levels[level][name]
      if (image != null) {
        names.push(name)
        data.url.push(`data:image/png;base64,${image}`)
        data.x.push(about.left + column * side)
        data.y.push(about.bottom + row * side)
        data.side.push(side)
      }
    }
  }
  const now = `${level} ${names.join(" ")}`
  if (now != shown) {
    shown = now
    source.data = data
  }
}

// Pixels that are larger than those of the screen are drawn as squares. Resizing a canvas forgets it.
function sharpen() {
  const canvas = Bokeh.index.get_by_id(figure.id)?.canvas_view?.primary
  if (canvas != null) {
    canvas.ctx.imageSmoothingEnabled = level_in_view() < about.levels.length - 1
  }
}

for (const range of [figure.x_range, figure.y_range]) {
  range.change.connect(show)
  range.change.connect(sharpen)
}
figure.properties.inner_width.change.connect(show)
show()
window.isosne = {show}
