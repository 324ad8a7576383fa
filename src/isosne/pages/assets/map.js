// Connects the controls of a page to its maps. Called by Bokeh when the document is ready, with
//   source   the data source of all maps         filter   which of its rows are shown
//   panels   [glyphs, index] of each map         mappers  numbers to colors, one for each choice
//   pans     tools that would keep a touch from scrolling the page
// The page embeds the texts that belong to the numbers as JSON. All content is inserted as text.
const about = JSON.parse(document.getElementById("about").textContent)
const legend = document.getElementById("legend")
const select = document.getElementById("choice")
const download = document.getElementById("download")
const clear = document.getElementById("clear")
const tip = document.getElementById("tip")
const hidden = new Set()
let choice = null

function text_of(column, i, digits) {
  const value = source.data[column.field][i]
  if (column.words != null) {
    return column.words[value]
  }
  if (Number.isNaN(value)) {
    return ""
  }
  return digits == null || Number.isInteger(value) ? String(value) : String(+value.toPrecision(digits))
}

function element(kind, name, text) {
  const made = document.createElement(kind)
  made.className = name
  if (text != null) {
    made.textContent = text
  }
  return made
}

function show_classes() {
  const codes = source.data[choice.fields[0]]
  filter.booleans = hidden.size == 0 ? null : Array.from(codes, (c) => !hidden.has(c))
  const kept = source.selected.indices.filter((i) => !hidden.has(codes[i]))
  source.selected.indices = kept
  legend.querySelectorAll(".entry").forEach((entry, c) => {
    entry.setAttribute("aria-pressed", String(!hidden.has(c)))
  })
}

function class_legend() {
  const entries = choice.classes.map((described, c) => {
    const entry = element("button", "entry")
    entry.type = "button"
    entry.setAttribute("aria-pressed", "true")
    const swatch = element("i", "swatch")
    swatch.style.background = described.color
    entry.append(swatch, element("span", "name", described.name))
    entry.append(element("span", "count", described.count.toLocaleString("en")))
    entry.addEventListener("click", () => {
      if (!hidden.delete(c)) {
        hidden.add(c)
      }
      show_classes()
    })
    return entry
  })
  const all = element("button", "all", "all")
  all.type = "button"
  all.addEventListener("click", () => {
    hidden.clear()
    show_classes()
  })
  const none = element("button", "none", "none")
  none.type = "button"
  none.addEventListener("click", () => {
    choice.classes.forEach((_, c) => hidden.add(c))
    show_classes()
  })
  const both = element("span", "both")
  both.append(all, none)
  return [...entries, both]
}

function scale_legend() {
  const bar = element("span", "bar")
  bar.style.background = `linear-gradient(to right, ${choice.colors.join(", ")})`
  const is_trust = choice.kind == "trust"
  const end = (value, word) => String(+value.toPrecision(4)) + (is_trust ? ` ${word}` : "")
  const ends = element("span", "ends")
  ends.append(element("span", "end", end(choice.low, "none kept")))
  ends.append(element("span", "end", end(choice.high, "all kept")))
  const scale = element("div", "scale")
  scale.append(element("span", "name", choice.name), bar, ends)
  return [scale]
}

function paint() {
  for (const [glyphs, map] of panels) {
    const transform = mappers[about.choices.indexOf(choice)]
    const fill_color = {field: choice.fields[map], transform}
    glyphs.forEach((glyph) => glyph.setv({fill_color}))
  }
}

function choose(number) {
  choice = about.choices[number]
  hidden.clear()
  filter.booleans = null
  legend.replaceChildren(...(choice.kind == "classes" ? class_legend() : scale_legend()))
}

function count_selected() {
  const n = source.selected.indices.length
  download.disabled = clear.disabled = n == 0
  download.textContent = n == 0 ? "Save selected rows" : `Save ${n.toLocaleString("en")} selected rows`
}

// An apostrophe keeps a spreadsheet from taking a text for a formula; as in rows/text.py.
function quoted(cell) {
  const safe = /^[=+\-@\t\r'\uff1d\uff0b\uff0d\uff20]/.test(cell) && isNaN(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function selected_rows() {
  const columns = [{name: "row", field: "row", words: null}, ...about.columns, ...about.coordinates]
  const order = Array.from(source.selected.indices)
  order.sort((i, j) => source.data.row[i] - source.data.row[j])
  const lines = order.map((i) => columns.map((column) => text_of(column, i, null)))
  const head = columns.map((column) => column.name)
  return [head, ...lines].map((cells) => cells.map(quoted).join(",") + "\r\n").join("")
}

function save_selected() {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(new Blob([selected_rows()], {type: "text/csv"}))
  link.download = "selected.csv"
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60000)
}

const sheets = (about.images?.sheets ?? []).map((encoded) => {
  const sheet = new Image()
  sheet.src = `data:image/png;base64,${encoded}`
  return sheet
})
window.isosne = {about, text_of, sheets, pointer: {x: 0, y: 0}}
document.addEventListener("pointermove", (event) => {
  window.isosne.pointer = {x: event.clientX, y: event.clientY}
})
document.querySelectorAll(".map").forEach((map) => {
  map.addEventListener("pointerleave", () => (tip.hidden = true))
})
if (window.matchMedia("(pointer: coarse)").matches) {
  pans.forEach((pan) => (pan.active = false))
}
source.selected.change.connect(count_selected)
download.addEventListener("click", save_selected)
clear.addEventListener("click", () => (source.selected.indices = []))
if (about.choices.length > 0) {
  select.addEventListener("change", () => {
    choose(select.selectedIndex)
    paint()
  })
  select.selectedIndex = about.first // browsers may restore an earlier selection
  choose(about.first)
}
