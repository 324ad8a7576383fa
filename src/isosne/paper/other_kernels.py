"""Appendix D: t-SNE with the adaptive Gaussian kernel and with the kNN kernel."""

from typing import Any

from isosne.datasets import load
from isosne.paper.grids import grid_values
from isosne.paper.outputs import table, write_page, write_values
from isosne.paper.settings import Settings
from isosne.paper.sweeps import WAYS, Way, measure_points, scale_points

TITLE = "Other kernels that depend on the data (Appendix D)"
PRINTED = {"segment": (0.35, 0.38), "spam": (0.22, 0.28)}
"""AUC_RNX of the adaptive Gaussian and of the kNN kernel in the paper."""
OTHERS = (
    Way("adaptive", "adaptive Gaussian", "adaptive", lambda values, n: {"k": values}),
    Way("knn", "kNN", "knn", lambda values, n: {"k": values}),
)
TRIED = (*WAYS[:2], *OTHERS)


def reproduce(settings: Settings) -> None:
    """Write the best AUC_RNX of four kernels on the two sets of the appendix."""
    sets = settings.sets or (("wine",) if settings.quick else tuple(PRINTED))
    rows: list[dict[str, Any]] = []
    grids = []
    for name in sets:
        data = load(name, folder=settings.data)
        n = data.X.shape[0]
        grids.append(settings.grid or ("thin" if n < 3000 else "least"))
        X, values = scale_points(data.X), grid_values(grids[-1], n)
        row: dict[str, Any] = {"set": name}
        for way in TRIED:
            found = measure_points(f"{name}-{way.name}", X, data.y, way, values, settings)
            if found is not None:
                row[way.title] = {"auc_rnx": found.best["auc_rnx"], "best": found.best}
        rows.append(row)
    cells = []
    for row in rows:
        printed = [f"{value:g}" for value in PRINTED.get(row["set"], ())] or ["", ""]
        ours = [f"{row[way.title]['auc_rnx']:.3f}" for way in TRIED]
        cells.append([row["set"], *ours, *printed])
    header = ["set", *(way.title for way in TRIED), "paper adaptive", "paper kNN"]
    used = ", ".join(f"{name} {grid}" for name, grid in zip(sets, grids, strict=True))
    parts = [
        (
            "Best AUC_RNX over all k. k of the two kernels is searched on the grid of psi; the "
            f"paper does not say which values it tried. Grids: {used}."
        ),
        table(header, cells),
    ]
    write_page(settings, "kernels", TITLE, parts)
    write_values(settings, "kernels", rows)
