"""Claims of processes that live are respected, others are taken over."""

import json
import os
import subprocess
import sys

import psutil
import pytest

from isosne.errors import OutputError
from isosne.jobs.claims import ABANDONED_SECONDS, Owner, claimed


@pytest.fixture
def path(tmp_path):
    return tmp_path / "part.claim"


def write_claim(path, **changes):
    path.write_text(json.dumps(Owner.this_process()._asdict() | changes))


def is_free(path):
    with claimed(path) as claim:
        return claim is not None


def test_a_claim_is_made_once_and_removed_at_the_end(path):
    with claimed(path) as claim:
        assert claim is not None
        assert Owner(**json.loads(path.read_text())) == Owner.this_process()
        assert not is_free(path)
    assert list(path.parent.iterdir()) == []


def test_a_claim_is_removed_after_an_error(path):
    with pytest.raises(ZeroDivisionError), claimed(path):
        raise ZeroDivisionError
    assert is_free(path)


def ended_process():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    started = psutil.Process(child.pid).create_time()
    return child, {"pid": child.pid, "started": started}


def test_the_claim_of_a_process_is_free_when_it_was_killed(path):
    child, owner = ended_process()
    write_claim(path, **owner)
    assert not is_free(path)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert is_free(path)  # a zombie, as long as its parent does not ask for its end
    write_claim(path, **owner)
    child.wait()
    child.stdin.close()
    assert is_free(path)


def test_a_claim_is_free_if_its_process_number_was_given_to_another_process(path):
    write_claim(path, started=Owner.this_process().started - 3600)
    assert is_free(path)


def test_a_claim_of_another_host_is_free_when_it_was_not_renewed(path):
    write_claim(path, host="elsewhere")
    assert not is_free(path)
    before = path.stat().st_mtime - ABANDONED_SECONDS - 5
    os.utime(path, (before, before))
    assert is_free(path)


def test_renewing_keeps_a_claim_from_others(path):
    with claimed(path) as claim:
        os.utime(path, (0, 0))
        claim.renew()
        assert not is_free(path)


def test_a_damaged_claim_is_free(path):
    path.write_text("{")
    assert is_free(path)


def test_a_claim_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(OutputError, match=r"does not exist"), claimed(tmp_path / "no" / "p.claim"):
        pass
