"""`isosne info`: versions, limits, and where compiled loops are."""

import json
from importlib.metadata import version

from isosne import __version__, _packs
from isosne._machine import Limit


def test_info_names_versions_limits_cache_and_settings(isosne, monkeypatch):
    monkeypatch.setattr("isosne._machine.cpu_limit", lambda: Limit(3, "quota"))
    monkeypatch.setenv("ISOSNE_MEMORY_LIMIT", "5kB")
    told = isosne("info").stdout.splitlines()
    assert told[0] == f"isosne          version {__version__}, in {_packs.PACKAGE}"
    assert "cpus            usable 3, limited by quota" in told
    assert "memory          usable 5 kB, limited by ISOSNE_MEMORY_LIMIT" in told
    assert any(line.startswith("compiled loops  cache ") for line in told)
    (packages,) = (line for line in told if line.startswith("packages"))
    assert f"numba {version('numba')}" in packages
    assert "ISOSNE_MEMORY_LIMIT 5kB" in told[-1]


def test_info_as_json_has_the_same_content(isosne, monkeypatch):
    monkeypatch.setattr("isosne.cli.info._packages", lambda: ["numpy", "no-such-package"])
    found = json.loads(isosne("info", "--json").stdout)
    assert found["isosne"]["version"] == __version__
    assert found["packages"] == {"numpy": version("numpy")}
    assert "not installed   no-such-package" in isosne("info").stdout.splitlines()


def test_a_pack_says_what_it_offers(tmp_path):
    key = ("module", "name", 1, "()", "bytecode")
    _packs.write(tmp_path / "a.pack", "+avx2,+fma", {key: b""})
    pack = _packs.Pack(tmp_path / "a.pack")
    assert pack.about("+avx2,+fma,+sse") == "1 functions"
    assert pack.about("+fma") == "not used, as this CPU lacks +avx2"
    missing = "none for these sources, Python and Numba"
    assert _packs.Pack(tmp_path / "b.pack").about("+fma") == missing
