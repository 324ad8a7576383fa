"""Colors and marker shapes of classes, and the color scales of values and trust.

The 26 colors were chosen greedily: each is the one farthest from all before it in OKLab, in the
worst of four views (normal vision, and simulated protanopia, deuteranopia and tritanopia after
Machado 2009). The first few are therefore the best few. Smallest distance between two colors,
times 100, in the worst view: 13.8 among 8 colors, 11.0 among 10, 5.5 among 26; the eight colors of
Okabe and Ito have 7.6. No color is so light that it vanishes on white, or so dark that it looks
like black, the color of marks.

Above eight classes, shapes differ too: two classes of the same shape are at least 10 apart in
every view.
"""

from matplotlib.colors import Colormap, LinearSegmentedColormap

COLORS = (
    *("#0072b2", "#f0c300", "#d20000", "#3cd2ff", "#69005a", "#0f00b4", "#ff7896", "#9687ff"),
    *("#875a69", "#b4961e", "#96002d", "#a54bf0", "#b4d2a5", "#c36969", "#692dd2", "#4bb4b4"),
    *("#c31ea5", "#4b0f87", "#693c78", "#5a6900", "#6987d2", "#e1a54b", "#005a4b", "#c396e1"),
    *("#4b3c00", "#ff3c87"),
)
SHAPES = ("o", "s", "^", "D")
# Assigned so that colors of the same shape are at least 10 apart.
SHAPE_OF_COLOR = (1, 3, 3, 0, 3, 1, 3, 2, 3, 0, 1, 0, 1, 1, 3, 0, 0, 2, 1, 0, 3, 2, 2, 1, 0, 2)
MAX_CIRCLE_CLASSES = 8
"""Up to this many classes differ in color only; the first eight colors are 13.8 apart."""
MAX_CLASSES = len(COLORS) * len(SHAPES)
"""Number of combinations of a color and a shape."""
LINE_COLORS = tuple(COLORS[c] for c in (0, 2, 15, 4, 9, 16, 19, 5))
"""Colors dark enough for thin lines."""
# On and off lengths in line widths; chosen to be told apart in gray.
DASHES = ("solid", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)))
PLAIN = "#35608d"
"""Points without a label or value, if no point has one."""
FAINT = "#bcc0c6"
"""Points without a label or value, behind those that have one."""
VALUE_SCALE = "viridis"
TRUST_SCALE: Colormap = LinearSegmentedColormap.from_list(
    "trust", ["#b8400e", "#e8963c", "#bdbdb0", "#5b9bc8", "#08519c"]
)
"""From orange (unreliable) over gray to blue (reliable); never white, the background."""


def class_color(c: int) -> str:
    """Return the color of a class by its index."""
    return COLORS[c % len(COLORS)]


def class_shape(c: int, n_classes: int) -> str:
    """Return the marker of a class by its index: a circle if colors alone suffice."""
    if n_classes <= MAX_CIRCLE_CLASSES:
        return "o"
    turn, color = divmod(c, len(COLORS))
    return SHAPES[(SHAPE_OF_COLOR[color] + turn) % len(SHAPES)]
