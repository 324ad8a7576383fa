"""Helpers for the tests of sources, files and data sets."""

import re

import pytest


def refuses(error, sentence):
    """Return a context manager that expects an error whose message is the whole sentence."""
    return pytest.raises(error, match=rf"\A{re.escape(sentence)}\Z")
