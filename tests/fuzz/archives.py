"""Changes of the archives in which models and checkpoints are stored."""

import io
import json
import zipfile

import numpy as np
from numpy.lib import format as npy

from tests.fuzz.case import Case
from tests.fuzz.mutation import change_json, damage, other_array

WAYS = ("bytes", "member", "header", "header", "array", "array")


def change_archive(case: Case, content: bytes, ways: tuple[str, ...] = WAYS) -> bytes:
    """Return an archive with damaged bytes, or a whole one with other values."""
    way = case.pick(*ways)
    case.note(f"change: {way}")
    if way == "bytes":
        return damage(case, content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(case.pick(1, 1, 1, 2, 3)):
        name = case.pick(*members) if way == "member" else "header.json"
        if way == "array":
            name = case.pick(*(name for name in members if name.endswith(".npy")))
        case.note(name)
        members[name] = CHANGES[way](case, members[name])
    return _archive(members)


def _archive(members: dict[str, bytes]) -> bytes:
    """Return a zip file with checksums that fit."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return content.getvalue()


def _change_header(case: Case, member: bytes) -> bytes:
    header = json.loads(member)
    change_json(case, header)
    return json.dumps(header).encode()


def _change_array(case: Case, member: bytes) -> bytes:
    content = io.BytesIO()
    array = npy.read_array(io.BytesIO(member))
    npy.write_array(content, np.asarray(other_array(case, array)))
    return content.getvalue()


CHANGES = {"member": damage, "header": _change_header, "array": _change_array}
