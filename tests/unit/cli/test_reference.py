"""docs/cli.md says what the commands say."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"


def test_the_reference_is_what_the_code_gives():
    written = runpy.run_path(str(DOCS / "generate_cli.py"))["render"]()
    advice = "Run python docs/generate_cli.py."
    assert (DOCS / "cli.md").read_text() == written, advice
