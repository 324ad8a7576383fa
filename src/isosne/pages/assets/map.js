// Connects the controls of a page to its maps. Called by Bokeh when the document is ready, with
//   source   the data source of all maps         filter   which of its rows are shown
//   panels   [glyphs, index] of each map         mappers  numbers to colors, one for each choice
//   others   the same of maps of trust           pans     tools that would keep a touch from scrolling
//   maps     figures of all maps                 curves   other figures
// The page embeds the texts that belong to the numbers as JSON. All content is inserted as text.
const about = JSON.parse(document.getElementById("about").textContent)
const legend = document.getElementById("legend")
const select = document.getElementById("choice")
const download = document.getElementById("download")
const clear = document.getElementById("clear")
const tip = document.getElementById("tip")
const night = window.matchMedia("(prefers-color-scheme: dark)")
const hidden = new Set()
let choice = null
let theme = 0 // index of the colors: 0 on white, 1 on dark

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
    swatch.style.background = choice.palettes[theme][c]
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

function scale_legend({name, ends, palettes}) {
  const bar = element("span", "bar")
  bar.style.background = `linear-gradient(to right, ${palettes[theme].join(", ")})`
  const both = element("span", "ends")
  both.append(...ends.map((end) => element("span", "end", end)))
  const scale = element("div", "scale")
  scale.append(element("span", "name", name), bar, both)
  return [scale]
}

function paint(drawn, chosen) {
  const transform = mappers[about.choices.indexOf(chosen)]
  for (const [glyphs, map] of drawn) {
    const fill_color = chosen == null ? about.plain[theme] : {field: chosen.fields[map], transform}
    glyphs.forEach((glyph) => glyph.setv({fill_color}))
  }
}

function draw_legend() {
  if (choice.kind == "classes") {
    legend.replaceChildren(...class_legend())
    show_classes()
  } else {
    legend.replaceChildren(...scale_legend(choice))
  }
}

function choose(number) {
  choice = about.choices[number]
  hidden.clear()
  filter.booleans = null
  draw_legend()
}

// Draws everything in the colors of the style sheet, on white or on dark.
function set_theme(is_dark) {
  theme = Number(is_dark)
  document.documentElement.classList.toggle("light", !is_dark)
  const style = getComputedStyle(document.documentElement)
  const [ink, soft, line, paper] = ["ink", "soft", "line", "paper"].map((name) =>
    style.getPropertyValue(`--${name}`).trim())
  const nan_color = about.faint[theme]
  mappers.forEach((mapper, c) => mapper.setv({palette: about.choices[c].palettes[theme], nan_color}))
  const around = {background_fill_color: paper, border_fill_color: paper}
  curves.forEach((figure) => figure.setv(around))
  maps.forEach((figure) => figure.setv({...around, outline_line_color: line}))
  for (const {renderers, below, left, center} of curves) {
    renderers.forEach(({glyph}, m) => {
      const color = about.lines[theme][m % about.lines[theme].length]
      document.querySelector(`.curve-${m}`).style.color = glyph.line_color = color
    })
    const texts = {axis_label_text_color: soft, major_label_text_color: soft}
    const lines = {axis_line_color: soft, major_tick_line_color: soft}
    below.concat(left).forEach((axis) => axis.setv({...texts, ...lines}))
    center.forEach((grid) => (grid.grid_line_color = line))
  }
  panels.concat(others).forEach(([glyphs]) => (glyphs[2].line_color = ink))
  paint(panels, choice)
  if (others.length > 0) {
    const trust = about.choices.find(({kind}) => kind == "trust")
    paint(others, trust)
    document.getElementById("trust").replaceChildren(...scale_legend(trust))
  }
  if (choice != null) {
    draw_legend()
  }
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
window.isosne = {about, text_of, sheets, set_theme, night, pointer: {x: 0, y: 0}}
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
    paint(panels, choice)
  })
  select.selectedIndex = about.first // browsers may restore an earlier selection
  choose(about.first)
}
set_theme(night.matches)
night.addEventListener("change", () => set_theme(night.matches))
