"""isosne beside other packages that draw maps: time, memory and quality as n grows.

`methods` has an adaptor for each, `points` the data, `child` the process that a method runs in,
`comparison` runs them and keeps the figures, `summary` is the table, `growth` the plot of time
against n, `pictures` the maps side by side.

Nothing is imported here: a child counts the import of its method as part of the first call.
"""

SIZES = [500, 1_000, 2_000, 5_000, 10_000, 20_000, 70_000]
"""Numbers of points of mnist70k, unless others are asked for."""


def run(
    quick: bool,
    dataset: str = "mnist70k",
    sizes: list[int] | None = None,
    methods: list[str] | None = None,
    seeds: int = 3,
    threads: int = 2,
) -> str:
    """Return the table of one data set; write figures, maps and pictures to the results."""
    from benchmarks.peers.comparison import Plan, compare

    usual = (SIZES[:2] if quick else SIZES) if dataset == "mnist70k" else [None]
    return compare(Plan(dataset, sizes or usual, seeds, threads), methods)
