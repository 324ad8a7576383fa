"""Expect an error by its whole message."""

import re

import pytest


def refuses(error, sentence):
    """Return a context manager that expects an error whose message is the whole sentence."""
    return pytest.raises(error, match=rf"\A{re.escape(sentence)}\Z")
