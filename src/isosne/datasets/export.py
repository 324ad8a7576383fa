"""Example data sets as CSV files, for a first try of the command line."""

import csv
import io
from pathlib import Path

from isosne._files import whole_file
from isosne.datasets.examples import EXAMPLES
from isosne.errors import ParameterError, suggest


def export(name: str, path: str | Path | None = None, *, force: bool = False) -> Path:
    """Write an example data set to a CSV file.

    Parameters
    ----------
    name : {"breast_cancer", "digits", "iris", "wine"}
        A data set that is part of scikit-learn.
    path : path or None, default=None
        File to write, which ends in .csv. None: the name with ".csv", in the current folder.
    force : bool, default=False
        Whether to replace an existing file.

    Returns
    -------
    Path
        The file. Its columns are id, the number of the row; the features; and target, the name of
        the class.

    Raises
    ------
    ParameterError
        If there is no such data set, or the file has another extension.
    OutputError
        If the file exists or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from isosne.datasets import export
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export("iris", f"{folder}/iris.csv").read_text().splitlines()[1]
    '0,5.1,3.5,1.4,0.2,setosa'
    """
    if name not in EXAMPLES:
        hint = suggest(name, EXAMPLES, "These data sets need no download.")
        raise ParameterError("name", f"be one of {', '.join(EXAMPLES)}", name, hint)
    target = Path(f"{name}.csv") if path is None else Path(path)
    if target.suffix.lower() != ".csv":
        raise ParameterError("path", "end in .csv", str(target), "Choose another name.")
    found = EXAMPLES[name]()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", *found.feature_names, "target"])
    for row, (values, label) in enumerate(zip(found.data.tolist(), found.target, strict=True)):
        writer.writerow([row, *values, found.target_names[label]])
    with whole_file(target, force=force) as file:
        file.write(text.getvalue().encode())
    return target
