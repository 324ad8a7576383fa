"""Who may see the page: those who have its token, from its own origin; and no file is served."""

import asyncio
import http.client
import json
import re
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import panel as pn
import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClosedError, websocket_connect

from isosne.errors import OutputError
from isosne.explorer.server import LOOPBACK, PageServer, browsing, ignore_closed_tabs


@pytest.fixture(scope="module")
def server():
    found = PageServer(lambda: pn.pane.HTML("<p>content</p>"))
    found.start()
    yield found
    found.stop()


def ask(server, path):
    """Ask for a path as it is written; return the status and the body."""
    with closing(http.client.HTTPConnection(LOOPBACK, server.port, timeout=30)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def connect(server, token, origin):
    """Open the connection of a page and ask for its document; return the answer."""

    async def work():
        headers = {"Origin": origin}
        request = HTTPRequest(f"ws://{LOOPBACK}:{server.port}/ws", headers=headers)
        opened = await websocket_connect(request, subprotocols=["bokeh", token])
        answer = found = await opened.read_message()
        opened.close()
        while found is not None:  # until the server has closed the connection too
            found = await opened.read_message()
        return answer

    return asyncio.run(asyncio.wait_for(work(), 30))


def signature(server):
    """Return the signed token of a connection that the page has."""
    _, page = ask(server, f"/?token={server.token}")
    return re.search(r'"token":"([^"]+)"', page).group(1)


def test_the_address_has_a_long_token_and_leads_to_this_machine(server):
    assert server.address == f"http://127.0.0.1:{server.port}/?token={server.token}"
    assert len(server.token) >= 32
    status, page = ask(server, f"/?token={server.token}")
    assert status == 200
    assert "isosne explore" in page


@pytest.mark.parametrize("query", ["", "?token=", "?token=%C3%A9", "?token={token}x"])
def test_the_page_is_refused_without_its_token(server, query):
    for path in ("/", "/metadata"):
        status, page = ask(server, path + query.format(token=server.token))
        assert status == 403
        assert "content" not in page


def test_a_page_loads_nothing_from_another_machine(server):
    _, page = ask(server, f"/?token={server.token}")
    sources = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert sources
    assert all(not source.startswith(("http", "//")) for source in sources)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../../../../../../../../etc/passwd",
        "/static/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/static//etc/passwd",
        "/static/extensions/panel/../../../../../../../../etc/passwd",
        "/etc/passwd",
        "/components/os/path/_css/x",
        "/autoload.js?bokeh-autoload-element=1",
        "/ws/../../etc/passwd",
    ],
)
def test_no_path_leads_to_a_file_outside(server, path):
    status, body = ask(server, path.format(token=server.token))
    assert status in (400, 403, 404)
    assert "root:" not in body


def test_no_path_imports_a_module(server):
    assert "this" not in sys.modules
    assert ask(server, "/components/this/s/_css/x")[0] == 404
    assert "this" not in sys.modules


def test_a_connection_from_the_page_is_accepted(server):
    answer = connect(server, signature(server), f"http://127.0.0.1:{server.port}")
    assert json.loads(answer)["msgtype"] == "ACK"


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:1", "null"])
def test_a_connection_from_another_origin_is_refused(server, origin):
    with pytest.raises(HTTPClientError, match="403"):
        connect(server, signature(server), origin)


def test_a_connection_without_the_signature_of_the_page_is_closed(server):
    token = signature(server)
    payload, _, _ = token.partition(".")
    for forged in (payload, f"{payload}.AAAA", token[:-2]):
        assert connect(server, forged, f"http://127.0.0.1:{server.port}") is None


def test_the_page_may_load_nothing_from_elsewhere_and_run_only_its_own_scripts(server):
    with closing(http.client.HTTPConnection(LOOPBACK, server.port, timeout=30)) as connection:
        connection.request("GET", f"/?token={server.token}")
        answer = connection.getresponse()
        policy, page = answer.headers["Content-Security-Policy"], answer.read().decode()
    rules = {name: words for name, *words in map(str.split, policy.split(";"))}
    assert rules["default-src"] == ["'none'"]
    assert "http" not in policy
    (number,) = set(re.findall(r'<script nonce="([^"]{32,})"', page))
    assert page.count("<script") == page.count(f'<script nonce="{number}"')
    assert set(rules["script-src"]) == {"'self'", "'unsafe-eval'", f"'nonce-{number}'"}
    assert number not in ask(server, f"/?token={server.token}")[1]
    assert answer.headers["Referrer-Policy"] == "no-referrer"


def test_the_server_may_listen_on_the_loopback_address_of_ip_6():
    made = PageServer(lambda: None, host="::1")
    made.start()
    assert made.address == f"http://localhost:{made.port}/?token={made.token}"
    with closing(http.client.HTTPConnection("::1", made.port, timeout=30)) as connection:
        connection.request("GET", "/")
        assert connection.getresponse().status == 403
    made.stop()


def test_a_browser_gets_the_token_in_a_private_file(monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    with browsing("http://127.0.0.1:5000/?token=secret"):
        (uri,) = opened
        assert "secret" not in uri
        path = Path(urlsplit(uri).path)
        assert path.stat().st_mode & 0o777 == 0o600
        assert "url=http://127.0.0.1:5000/?token=secret" in path.read_text()
    assert not path.parent.exists()


def test_a_port_in_use_is_told(server):
    other = PageServer(lambda: None, port=server.port)
    with pytest.raises(OutputError, match=rf"^Cannot listen on 127.0.0.1, port {server.port}: "):
        other.start()


def test_a_closed_tab_is_no_error_but_others_are_reported(caplog):
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(ignore_closed_tabs)
    loop.call_exception_handler({"message": "closed", "exception": WebSocketClosedError()})
    assert caplog.messages == []
    loop.call_exception_handler({"message": "broken", "exception": ValueError("x")})
    assert caplog.messages == ["broken"]
    loop.close()
