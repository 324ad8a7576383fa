"""Runs on disks that are full, and two runs of one checkpoint."""

import ctypes
import os
import resource

from tests.contract.kill_host import live, there
from tests.contract.kill_jobs import OLD, Checkpointed, Saved, Swept, Transformed, JOBS

LIMITS = (0, 60, 700, 4_000, 20_000)
"""Bytes that a file may have; the outputs have up to some 70,000."""


def refused_writes(folder):
    return []
