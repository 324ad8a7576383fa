"""`isosne.explore` in a notebook: a real Jupyter kernel, whose output is shown in a browser."""

import html
import re

import pytest
from jupyter_client.manager import start_new_kernel

pytestmark = pytest.mark.browser
CELL = """
from sklearn.datasets import load_iris
import isosne
explorer = isosne.explore(*load_iris(return_X_y=True))
explorer
"""


@pytest.fixture
def kernel():
    """A kernel as notebooks have it."""
    manager, client = start_new_kernel()
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def run_cell(kernel, code):
    """Run a cell; return its result by type, such as text/html."""
    results = []

    def receive(message):
        if message["msg_type"] == "error":
            raise AssertionError("\n".join(message["content"]["traceback"]))
        assert message["msg_type"] != "display_data"  # such as loaders of scripts
        if message["msg_type"] == "execute_result":
            results.append(message["content"]["data"])

    kernel.execute_interactive(code, output_hook=receive, timeout=300)
    return results[0] if results else {}


def test_a_cell_shows_the_page_and_the_selection_comes_back_to_python(visit, kernel, tmp_path):
    shown = run_cell(kernel, CELL)
    assert "Explorer at http://127.0.0.1:" in shown["text/plain"]
    address = html.unescape(re.search(r'src="([^"]+)"', shown["text/html"]).group(1))
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><title>notebook</title>{shown['text/html']}")
    visitor = visit(address)  # the page itself has a host, which a file has not
    visitor.browser.get(notebook.as_uri())
    visitor.browser.switch_to.frame(0)
    visitor.says("Finished, step")
    visitor.until(lambda: len(visitor.positions()) == 150, "all points have a place")
    visitor.enter("Search", "17")
    visitor.lists(["17"])
    assert run_cell(kernel, "explorer.selection.tolist()")["text/plain"] == "[17]"
    run_cell(kernel, "explorer.close()")
    visitor.browser.switch_to.default_content()
