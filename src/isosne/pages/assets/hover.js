// Shows the rows under the pointer in a tooltip. Called by Bokeh with `source` and `cb_data` when
// the pointer moves over a map. All content is inserted as text, never as HTML.
const MAX_ROWS = 3 // more would not fit a phone

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
  add("row", source.data.row[i])
  for (const column of about.columns) {
    add(column.name, window.isosne.text_of(column, i, 5))
  }
  return table
}

if (found.length == 0) {
  tip.hidden = true
} else {
  tip.replaceChildren(...Array.from(found).slice(0, MAX_ROWS).map(row_table))
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
