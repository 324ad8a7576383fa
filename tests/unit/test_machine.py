"""Limits of the machine, read from copies of the files of control groups."""

import os
from types import SimpleNamespace

import psutil
import pytest

from isosne import TSNE, _machine, _numba
from isosne._machine import CONTAINER, Limit, cpu_limit, free_memory
from isosne.errors import ParameterError

UNLIMITED = "9223372036854771712\n"  # what version 1 says without a limit
STAT_2 = "anon 300000000\nfile 500000000\ninactive_anon 0\ninactive_file 400000000\nslab 12\n"
STAT_1 = "cache 9\ninactive_file 1\ntotal_cache 500000000\ntotal_inactive_file 400000000\n"
HYBRID = "5:memory:{0}\n4:cpuset:/\n2:cpu,cpuacct:{0}\n1:name=systemd:/\n0::/\n"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with 64 CPUs and 100 GB, whose files are written by the test."""
    monkeypatch.setattr(_machine, "ROOT", tmp_path)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)), raising=False)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=10**11))
    monkeypatch.delenv("ISOSNE_MEMORY_LIMIT", raising=False)
    _machine._quotas.cache_clear()

    def write(groups, **files):
        files |= {"proc/self/cgroup": groups}
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    yield write
    _machine._quotas.cache_clear()


def files(folder, **texts):
    """Return the files of a group by path; `memory_max` is memory.max."""
    return {f"{folder}/{name.replace('_', '.', 1)}": text for name, text in texts.items()}


def test_a_machine_without_control_groups_limits_nothing(machine):
    assert (cpu_limit(), free_memory()) == (Limit(64), Limit(10**11))


def test_affinity_limits_the_cpus(machine, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3, 5}, raising=False)
    assert cpu_limit() == Limit(2, "affinity")


def test_groups_of_version_2_without_limits(machine):
    own = files("sys/fs/cgroup/user", cpu_max="max 100000\n", memory_max="max\n")
    machine("0::/user\n", **own, **files("sys/fs/cgroup/user", memory_high="max\n"))
    assert (cpu_limit(), free_memory()) == (Limit(64), Limit(10**11))


def test_groups_of_version_1_without_limits(machine):
    cpu = files("sys/fs/cgroup/cpu", cpu_cfs_quota_us="-1\n", cpu_cfs_period_us="100000\n")
    machine(
        HYBRID.format("/"), **cpu, **files("sys/fs/cgroup/memory", memory_limit_in_bytes=UNLIMITED)
    )
    assert (cpu_limit(), free_memory()) == (Limit(64), Limit(10**11))


@pytest.mark.parametrize(
    ("quota", "n_cpus"), [("200000", 2), ("150000", 2), ("50000", 1), ("100001", 2)]
)
def test_a_quota_is_rounded_up(machine, quota, n_cpus):
    machine("0::/\n", **files("sys/fs/cgroup", cpu_max=f"{quota} 100000\n"))
    assert cpu_limit() == Limit(n_cpus, "quota")


def test_a_container_of_version_2(machine):
    """2 GB, of which 0.9 GB are in use, 0.4 GB of these by files that can be dropped."""
    limits = {"cpu_max": "300000 100000\n", "memory_max": "2000000000\n", "memory_high": "max\n"}
    used = {"memory_current": "900000000\n", "memory_stat": STAT_2}
    machine("0::/\n", **files("sys/fs/cgroup", **limits, **used))
    assert (cpu_limit(), free_memory()) == (Limit(3, "quota"), Limit(1_500_000_000, CONTAINER))


def test_a_container_of_version_1_whose_path_is_that_of_the_host(machine):
    cpu = files("sys/fs/cgroup/cpu", cpu_cfs_quota_us="300000\n", cpu_cfs_period_us="100000\n")
    memory = {"memory_limit_in_bytes": "2000000000\n", "memory_usage_in_bytes": "900000000\n"}
    memory = files("sys/fs/cgroup/memory", **memory, memory_stat=STAT_1)
    machine(HYBRID.format("/docker/4f1c"), **cpu, **memory)
    assert (cpu_limit(), free_memory()) == (Limit(3, "quota"), Limit(1_500_000_000, CONTAINER))


@pytest.mark.parametrize("lowest", ["sys/fs/cgroup/a", "sys/fs/cgroup/a/b", "sys/fs/cgroup/a/b/c"])
def test_the_lowest_of_nested_groups_counts(machine, lowest):
    every = [f"sys/fs/cgroup/{path}" for path in ("a", "a/b", "a/b/c")]
    for group in every:
        n = 1 if group == lowest else 8
        limits = {"cpu_max": f"{n}00000 100000\n", "memory_max": f"{n}000000000\n"}
        machine("0::/a/b/c\n", **files(group, **limits, memory_current="100000000\n"))
    assert (cpu_limit(), free_memory()) == (Limit(1, "quota"), Limit(900_000_000, CONTAINER))


def test_the_throttling_limit_counts_and_a_full_group_has_no_room(machine):
    limits = {"memory_max": "max\n", "memory_high": "1000000\n", "memory_current": "1500000\n"}
    machine("0::/\n", **files("sys/fs/cgroup", **limits))
    assert free_memory() == Limit(0, CONTAINER)


def test_what_cannot_be_read_limits_nothing(machine, tmp_path):
    machine("0::/\n", **files("sys/fs/cgroup", cpu_max="\n", memory_stat="anon\n"))
    (tmp_path / "sys/fs/cgroup/memory.max").mkdir()  # an error, as without permission
    (tmp_path / "sys/fs/cgroup/memory.high").write_bytes(b"\xff\xfe")
    assert (cpu_limit(), free_memory()) == (Limit(64), Limit(10**11))


def test_the_plan_says_what_the_container_allows(machine, monkeypatch):
    limits = {"cpu_max": "100000 100000\n", "memory_max": "1000000000\n"}
    machine("0::/\n", **files("sys/fs/cgroup", **limits))
    lines = str(TSNE().plan([[0.0], [1.0], [3.0]])).splitlines()
    assert "threads     1 (1 of 64 CPUs: quota)" in lines
    assert lines[7].endswith(" more than in use now; 1 GB available: container limit")
    model = TSNE("gaussian", affinities="dense")
    sentence = "affinities must fit in the 1 GB of memory that is available (container limit); "
    with pytest.raises(ParameterError) as caught:
        model.plan([[0.0]] * 20_000)
    assert str(caught.value).startswith(sentence)


def test_no_more_threads_run_than_the_quota_allows(machine, monkeypatch):
    used = []
    monkeypatch.setattr(_numba, "set_num_threads", used.append)
    machine("0::/\n", **files("sys/fs/cgroup", cpu_max="100000 100000\n"))
    before = _numba.get_num_threads()
    with _numba.threads(None):
        assert _numba.most_threads() == 1
    with _numba.threads(7):
        assert _numba.most_threads() == 1
    assert used == [1, before, 1, before]
    assert _numba.n_threads() == 1
