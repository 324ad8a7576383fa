"""A real Jupyter kernel, without a browser: progress bar, and the picture of a map."""

import re
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

pytestmark = pytest.mark.slow
FIT = """
from sklearn.datasets import load_iris
from isosne import TSNE
X, y = load_iris(return_X_y=True)
model = TSNE(random_state=0, verbose=True).fit(X)
"""


@pytest.fixture(scope="module")
def run_cell():
    """Run a cell in a kernel; return the messages that it sends, by type."""
    manager, client = start_new_kernel()

    def run(code):
        received = {}

        def receive(message):
            received.setdefault(message["msg_type"], []).append(message)

        client.execute_interactive(code, output_hook=receive, timeout=300)
        for message in received.get("error", ()):
            raise AssertionError("\n".join(message["content"]["traceback"]))
        return received

    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_a_cell_shows_one_bar(run_cell):
    received = run_cell(FIT)
    assert {m["content"]["name"] for m in received["stream"]} == {"stdout"}
    (first,) = received["display_data"]
    assert "application/vnd.jupyter.widget-view+json" in first["content"]["data"]


def test_the_code_of_the_page_runs(capsys):
    page = (Path(__file__).parents[2] / "docs" / "notebooks.md").read_text()
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        exec(compile(block, "docs/notebooks.md", "exec"), names)
    assert 250 <= len(names["maps"]) <= 500
    assert re.search(r"^\d+ steps in \d+\.\d s$", capsys.readouterr().err, re.MULTILINE)
