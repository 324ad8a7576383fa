"""A real Jupyter kernel, without a browser: progress bar, and widgets that a page changes."""

import re
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

pytestmark = pytest.mark.slow
VIEW = "application/vnd.jupyter.widget-view+json"
FIT = """
from sklearn.datasets import load_iris
from isosne import TSNE
X, y = load_iris(return_X_y=True)
model = TSNE(random_state=0, verbose=True).fit(X)
"""
WIDGETS = """
import numpy as np
from isosne.plots import compare_widget
Y = np.random.default_rng(0).normal(size=(30, 2))
shown = compare_widget({"one": Y, "other": -Y}, np.repeat(["a", "b"], 15))
shown
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

    run.client = client
    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def text_of(received):
    return received["execute_result"][0]["content"]["data"]["text/plain"]


def test_a_cell_shows_one_bar_that_is_updated(run_cell):
    received = run_cell(FIT)
    assert {m["content"]["name"] for m in received["stream"]} == {"stdout"}
    (first,) = received["display_data"]
    handle = first["content"]["transient"]["display_id"]
    updates = received["update_display_data"]
    assert {m["content"]["transient"]["display_id"] for m in updates} == {handle}
    page = updates[-1]["content"]["data"]["text/html"]
    assert "<progress value='500' max='500'></progress>" in page
    assert re.search(r"step 500 of 500, phase 3 of 3, objective \d\.\d{4}</div>$", page)


def test_what_a_page_selects_is_read_in_python_and_linked(run_cell):
    received = run_cell(WIDGETS)
    (result,) = received["execute_result"]
    assert VIEW in result["content"]["data"]
    model_id = text_of(run_cell("shown.scatters[0].widget.model_id")).strip("'")
    rows = bytes([7, 0, 0, 0, 2, 0, 0, 0])  # two 32-bit integers: what the page sends
    content = {
        "comm_id": model_id,
        "data": {"method": "update", "buffer_paths": [["selection", "view"]]},
    }
    content["data"]["state"] = {"selection": {"dtype": "uint32", "shape": [2]}}
    client = run_cell.client
    client.session.send(client.shell_channel.socket, "comm_msg", content, buffers=[rows])
    assert text_of(run_cell("shown.selection.tolist()")) == "[2, 7]"
    assert text_of(run_cell("shown.scatters[1].widget.selection.tolist()")) == "[7, 2]"


def test_the_code_of_the_page_runs(capsys):
    page = (Path(__file__).parents[2] / "docs" / "notebooks.md").read_text()
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        exec(compile(block, "docs/notebooks.md", "exec"), names)
    assert names["shown"].selection.tolist() == [3, 5]
    assert len(names["both"].scatters) == 2
    assert len(names["maps"]) == 500
    assert "step 500 of 500  phase 3 of 3, objective 0." in capsys.readouterr().err
