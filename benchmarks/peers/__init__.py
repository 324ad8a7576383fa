"""isosne beside openTSNE, umap-learn, scikit-learn and PaCMAP: time, memory and quality.

`methods` has an adaptor for each, `points` the data, `child` the process that a method runs in,
`comparison` the tables and files, `pictures` the maps side by side.

Nothing is imported here: a child counts the import of its method as part of the first call.
"""


def run(
    quick: bool,
    dataset: str = "mnist70k",
    rows: int | None = None,
    methods: list[str] | None = None,
    threads: int = 2,
) -> str:
    """Return the table of one data set; write figures, maps and a picture to the results."""
    from benchmarks.peers.comparison import compare

    return compare(dataset, 5000 if quick and rows is None else rows, methods, threads)
