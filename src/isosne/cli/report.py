"""`isosne report`: maps with two kernels, or existing maps, measured and explained on one page."""

from itertools import count
from pathlib import Path
from typing import Any

import click

from isosne.cli import files
from isosne.cli import options as o
from isosne.cli.messages import conclude, make_progress, tell
from isosne.cli.models import Structure, find_structure, guide_by_labels, make_model
from isosne.cli.options import Args, map_options, option, refuse
from isosne.cli.tables import find_labels, find_rows, named, open_table, open_table_of, read_points
from isosne.errors import DataError, keyword

EXTRAS = ("n_seeds", "clusters", "outliers", "label_weight", "null")

N_JUDGED, MOST_JUDGED = 2000, 20  # rows and clusters


@o.command(
    *(o.SOURCE, o.output_option("Page to write (.html)."), *o.TABLE, *o.MAP),
    option(
        "--n-seeds N",
        "Number of maps per kernel, with consecutive seeds; measures are averaged over them.",
        type=click.IntRange(min=1),
        shown="5; 3 above 5,000 rows, 1 above 20,000",
    ),
    option(
        "--map MAP",
        "Map to compare instead of computing maps; repeat for several. It may come from any "
        "program, as for isosne measure.",
        name="map_file",
        multiple=True,
    ),
    *(o.CLUSTERS, o.OUTLIERS, o.LABEL_WEIGHT),
    o.kernel_option(
        "--null N",
        "Test for clusters: compare the table with N random ones that have the same columns and "
        "correlations but no clusters; 19 are enough for p = 0.05.",
        type=click.IntRange(min=1),
    ),
    *(o.TITLE, *o.LAST),
)
def report(args: Args) -> None:
    """Write an HTML report that compares maps with two kernels.

    The table is mapped with the chosen kernel and with gaussian (if gaussian is chosen, with the
    default kernel), each with several seeds. The page says which map is better, or that they tie
    within the variation between seeds. It is interactive, explains the quality measures, and works
    offline. With --map, existing maps are compared instead, and nothing is computed.

    Example: isosne report wine.csv --id id --label target --scale standard -o report.html
    """
    files.check_distinct(args.pick("source"), args.pick("output"))
    files.check_output(args.output, files.PAGES, force=args.force)
    if args.map_file:
        unused = ("kernel", "psi", "cell_size", "perplexity", "n_iter", *EXTRAS)
        refuse(f"if {keyword('map_file')} is given, which embeds nothing", **args.pick(*unused))
    n_points = _compare(args) if args.map_file else _embed(args)
    result = {"output": str(args.output), "n_points": n_points}
    conclude(result, f"Wrote {args.output}: {n_points:,} rows", as_json=args.json)


def _embed(args: Args) -> int:
    """Write a page about maps with two kernels; return the number of rows."""
    from isosne.pages import write_report
    from isosne.structure import label_test
    from isosne.studies import study

    how = args.given(o.TABLE)
    _, table = open_table(args.source, how, args.memory_limit)
    is_mixed = hasattr(table.rows, "frame")
    if is_mixed:
        refuse(f"with {keyword('mixed')}: the test draws numeric columns", null=args.null)
    model = make_model(map_options(args), **args.pick("n_jobs", "memory_limit"))
    if args.label_weight is not None:
        guide_by_labels(model, args.label_weight, table.labels)
    model.plan(table.rows)  # refuses a table that is too large before it is read
    points = table.rows.frame if is_mixed else read_points(table, args.memory_limit)
    n_rows = int(table.rows.shape[0])
    structure = _find(args, model, points)
    if args.label_weight:
        tell("Testing how much of the separation of the classes is due to the labels")
        test = label_test(model, points, table.labels)
        sentence = f"Labels guide the first map. 10-NN accuracy (R^2 of numbers): {test}."
        structure.sentences["label test"] = sentence
    progress = _show_steps(model, args.n_seeds, n_rows)
    ids = {} if table.ids is None else {how.get("id", "id"): table.ids}
    try:
        found = study(
            points,
            named(table.labels, how.get("label")),
            columns=ids | structure.columns,
            model=model,
            origin=files.describe_origin(args, table, how),
            findings=structure.sentences,
            notes=table.rows.notes,
            **args.pick("n_seeds", "title", "random_state"),
        )
    finally:
        progress.end()
    write_report(args.output, found, force=args.force)
    return n_rows


def _find(args: Args, model: Any, points: Any) -> Structure:
    """Return the clusters, the outliers and the null test of the points, as chosen."""
    import numpy as np
    from scipy.sparse import csr_array

    from isosne import TableForest
    from isosne._random import as_generator
    from isosne.kernels.registry import as_kernel, for_table
    from isosne.structure import null_test

    seed, n_draws = args.random_state, args.null
    kernel = as_kernel(model.kernel, points.shape[0], as_generator(seed))
    if args.label_weight:
        kernel.set_params(label_weight=0)
    if not isinstance(points, np.ndarray | csr_array):  # a table with mixed columns
        points = TableForest(random_state=seed).fit_transform(points)
        kernel = for_table(kernel)
    structure = find_structure(args, points, kernel, points)
    if n_draws is not None:
        tell(f"Drawing null data {n_draws} time{'s' if n_draws > 1 else ''}")
        test = null_test(points, kernel, n_draws=n_draws, random_state=seed)
        structure.columns["null_p"] = test.point_p_values
        structure.sentences["null test"] = str(test)
    if "cluster" in structure.columns:
        structure.sentences.update(_judge_clusters(structure, points, kernel))
    return structure


def _judge_clusters(structure: Structure, points: Any, kernel: Any) -> dict[str, str]:
    """Return what speaks for each of the largest clusters, measured on a sample of the rows."""
    import numpy as np

    from isosne.neighbors.exact import is_other
    from isosne.neighbors.metric import Metric
    from isosne.neighbors.search import make_search

    labels, p_values = structure.columns["cluster"], structure.columns.get("null_p")
    n = len(labels)
    rows = np.sort(np.random.default_rng(0).choice(n, min(n, N_JUDGED), replace=False))
    search = make_search(points, Metric(kernel.metric, kernel.p), "exact")
    found, _ = search.nearest(points[rows], min(11, n))
    near = found[is_other(found, rows)].reshape(len(rows), -1)
    sentences = {}
    for c, stability in enumerate(structure.about["clusters"]["cluster_stability"][:MOST_JUDGED]):
        own = labels[rows] == c
        share = f"{np.mean(labels[near[own]] == c):.0%}" if own.any() else "an unknown share"
        words = f"{np.sum(labels == c):,} rows; {share} of their nearest neighbors are in it; "
        words += f"stability {stability:.2f}"
        if p_values is not None:
            words += f"; {np.mean(p_values[labels == c] <= 0.05):.0%} lie in regions more "
            words += "self-contained than those of 95% of random points"
        sentences[f"is cluster {c} real?"] = f"{words}."
    return sentences


def _show_steps(model: Any, n_seeds: int | None, n_rows: int) -> Any:
    """Have a model show the steps of all maps; return the progress."""
    from isosne.layout.schedules import as_schedule
    from isosne.studies.judged_maps import resolve_n_seeds

    n_maps, n_iter = 2 * resolve_n_seeds(n_seeds, n_rows), as_schedule(model.schedule).n_iter
    progress, maps = make_progress(), count()
    progress.begin(f"{n_maps} maps: step", n_maps * n_iter)

    done = 0

    def show(state: Any) -> None:
        nonlocal done
        # The map before may have ended early.
        done = next(maps) * n_iter + 1 if state.iteration == 1 else done + 1
        progress.advance(done, "")

    model.set_params(callback=show)
    return progress


def _compare(args: Args) -> int:
    """Write a page about maps of a table, read as one of them records; return its size."""
    from isosne.pages import write_report
    from isosne.studies import compare_maps

    for path in args.map_file:
        files.check_one_stdin(source=args.source, map_file=path)
    read = [files.read_map_file(path, "map_file") for path in args.map_file]
    first = read[0]
    options, _, table = open_table_of(read, args.map_file, args.source, args)
    chosen = find_rows(table, first)
    names = [Path(path).name for path in args.map_file]
    titles = names if len(set(names)) == len(names) else args.map_file
    titled = zip(titles, read, strict=True)
    embeddings = {title: _in_order(table, drawn, first, title) for title, drawn in titled}
    tell(f"Measuring {len(read)} map{'s' if len(read) > 1 else ''}")
    found = compare_maps(
        read_points(table, args.memory_limit, chosen),
        embeddings,
        named(find_labels(table, first, chosen), options.get("label")),
        columns={"id": first.ids} if first.has_ids else None,
        metric=args.metric or files.recorded_metric(first, table),
        origin=files.describe_origin(args, table, options),
        notes=table.rows.notes,
        **args.pick("title", "random_state"),
    )
    write_report(args.output, found, force=args.force)
    return len(first.embedding)


def _in_order(table: Any, drawn: Any, first: Any, title: str) -> Any:
    import numpy as np

    every = np.arange(table.rows.shape[0])
    own, wanted = (
        every if rows is None else rows for rows in (find_rows(table, m) for m in (drawn, first))
    )
    order = np.argsort(own)
    if not np.array_equal(own[order], np.sort(wanted)):
        raise DataError(
            f"Maps that are compared must have the same points; {title} has {len(own):,} points, "
            f"which are not the {len(wanted):,} of the first map. Compare maps of the same rows."
        )
    return drawn.embedding[order[np.searchsorted(own[order], wanted)]]
