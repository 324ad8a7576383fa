// Shows the rows under the pointer in a tooltip. Called by Bokeh with `source` and `cb_data` when
// the pointer moves over a map. All content is inserted as text, never as HTML.
const MAX_ROWS = 3 // more would not fit a phone
const MAX_LETTERS = 160 // of a text; the saved rows have all of them
const IMAGE_SIDE = 96 // pixels of the page along the longer side of an image

const tip = document.getElementById("tip")
const about = window.isosne.about
const found = cb_data.index.indices

function row_table(i) {
  const table = document.createElement("table")
  const add = (name, value) => {
    const line = table.insertRow()
    line.insertCell().textContent = name
    line.insertCell().textContent = value
  }
  if (about.hover == null) {
    add("row", source.data.row[i])
  }
  for (const column of about.hover?.map((c) => about.columns[c]) ?? about.columns) {
    const text = window.isosne.text_of(column, i, 5)
    add(column.name, text.length > MAX_LETTERS ? `${text.slice(0, MAX_LETTERS)}…` : text)
  }
  return table
}

function row_image(i) {
  const {width, height, columns, per_sheet} = about.images
  const row = source.data.row[i]
  const place = row % per_sheet
  const scale = IMAGE_SIDE / Math.max(width, height)
  const canvas = document.createElement("canvas")
  canvas.width = Math.round(width * scale)
  canvas.height = Math.round(height * scale)
  const context = canvas.getContext("2d")
  context.imageSmoothingEnabled = scale < 3 // pixels of small images stay sharp
  const from = [(place % columns) * width, Math.floor(place / columns) * height, width, height]
  const sheet = window.isosne.sheets[Math.floor(row / per_sheet)]
  context.drawImage(sheet, ...from, 0, 0, canvas.width, canvas.height)
  return canvas
}

function row_entry(i) {
  const entry = document.createElement("div")
  entry.className = "row"
  entry.append(...(about.images == null ? [] : [row_image(i)]), row_table(i))
  return entry
}

if (found.length == 0) {
  tip.hidden = true
} else {
  tip.replaceChildren(...Array.from(found).slice(0, MAX_ROWS).map(row_entry))
  if (found.length > MAX_ROWS) {
    const more = document.createElement("p")
    more.textContent = `and ${found.length - MAX_ROWS} more`
    tip.append(more)
  }
  tip.hidden = false
  const {x, y} = window.isosne.pointer
  const beside = x + 16 + tip.offsetWidth < window.innerWidth ? x + 16 : x - 16 - tip.offsetWidth
  const below = y + 16 + tip.offsetHeight < window.innerHeight ? y + 16 : y - 16 - tip.offsetHeight
  tip.style.left = `${Math.max(4, beside)}px`
  tip.style.top = `${Math.max(4, below)}px`
}
