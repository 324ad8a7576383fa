"""Appendix D: t-SNE with the adaptive Gaussian kernel and with the kNN kernel."""

from typing import Any

from benchmarks.paper.artifacts import format_table, write_json, write_markdown
from benchmarks.paper.data import load
from benchmarks.paper.evaluation import METHODS, Method, measure_points, scale_points
from benchmarks.paper.grids import grid_values
from benchmarks.paper.settings import Settings

TITLE = "Other data-dependent kernels (Appendix D)"
PRINTED = {"segment": (0.35, 0.38), "spam": (0.22, 0.28)}
"""The paper's AUC_RNX of the adaptive Gaussian and of the kNN kernel."""
MAX_THIN_POINTS = 3000
"""Largest data set for the "thin" grid, smaller than in `grids`: four kernels are searched."""
OTHERS = (
    Method("adaptive", "adaptive Gaussian", "adaptive", lambda values, n: {"k": values}),
    Method("knn", "kNN", "knn", lambda values, n: {"k": values}),
)
TRIED = (*METHODS[:2], *OTHERS)


def reproduce(settings: Settings) -> None:
    """Write the best AUC_RNX of four kernels on the two data sets of the appendix."""
    sets = settings.sets or (("wine",) if settings.quick else tuple(PRINTED))
    rows: list[dict[str, Any]] = []
    grids = []
    for name in sets:
        data = load(name, folder=settings.data)
        n = data.X.shape[0]
        grids.append(settings.grid or ("thin" if n < MAX_THIN_POINTS else "least"))
        X, values = scale_points(data.X), grid_values(grids[-1], n)
        row: dict[str, Any] = {"set": name}
        for method in TRIED:
            found = measure_points(f"{name}-{method.name}", X, data.y, method, values, settings)
            if found is not None:
                row[method.title] = {"auc_rnx": found.best["auc_rnx"], "best": found.best}
        rows.append(row)
    cells = []
    for row in rows:
        printed = [f"{value:g}" for value in PRINTED.get(row["set"], ())] or ["", ""]
        ours = [f"{row[method.title]['auc_rnx']:.3f}" for method in TRIED]
        cells.append([row["set"], *ours, *printed])
    header = ["set", *(method.title for method in TRIED), "paper adaptive", "paper kNN"]
    used = ", ".join(f"{name} {grid}" for name, grid in zip(sets, grids, strict=True))
    parts = [
        (
            "Best AUC_RNX over all neighborhood sizes. The parameter k of the two kernels is "
            "searched on the grid of psi; the paper does not state which values it tried. Grids: "
            f"{used}."
        ),
        format_table(header, cells),
    ]
    write_markdown(settings, "kernels", TITLE, parts)
    write_json(settings, "kernels", rows)
