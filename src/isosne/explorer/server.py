"""The server: on this machine only, and only for those who have its address with the token.

The page is refused without the token, and may load nothing from elsewhere. The connection of a page
is refused without the signature that the page was given, and from any other origin. Nothing is
served but the page and the scripts of Bokeh and Panel; no path leads to a file of the user.
"""

import asyncio
import hmac
import logging
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bokeh.server.auth_provider import AuthProvider
from panel.io.server import get_server
from tornado.httputil import HTTPHeaders
from tornado.ioloop import IOLoop
from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, OutputTransform, RequestHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from isosne._html import fill
from isosne.errors import OutputError

LOOPBACK = "127.0.0.1"
TOKEN_BYTES = 24  # random bytes in the token, and in the key that signs connections
DAY_SECONDS = 24 * 3600  # how long a page may connect again after its connection was lost
MAX_MESSAGE_BYTES = 2**30  # largest message from a page: a map of up to a gigabyte
START_SECONDS = 60
EVERYWHERE = ("", "0.0.0.0", "::")
POLICY = (
    "default-src 'none'; script-src 'self' 'nonce-{}' 'unsafe-eval'; style-src 'self' "
    "'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' ws:; "
    "base-uri 'none'; form-action 'none'"
)
"""What the page may load and run: files of this server, and the scripts that it was sent with,
which have a random number. A script or a handler in text that is shown does not run. Allowed must
be functions made of text, for Bokeh ('unsafe-eval'), styles of figures and panes ('unsafe-inline'),
icons (data:) and saved pictures (blob:). Notebooks of any address may show the page in a frame."""


class Policy(OutputTransform):
    """Gives every answer the policy, and keeps the token out of the requests of its page."""

    def __init__(self, request: Any) -> None:
        pass

    def transform_first_chunk(
        self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, HTTPHeaders, bytes]:
        """Mark the scripts of a page, in which the server writes no text from data."""
        number = secrets.token_urlsafe(TOKEN_BYTES)
        if status_code == 200 and "html" in headers.get("Content-Type", ""):
            chunk = chunk.replace(b"<script", f'<script nonce="{number}"'.encode())
            headers["Content-Length"] = str(len(chunk))
        headers["Content-Security-Policy"] = POLICY.format(number)
        headers["Referrer-Policy"] = "no-referrer"
        return status_code, headers, chunk


class TokenProvider(AuthProvider):
    """Refuses every page that is asked for without the token."""

    def __init__(self, token: str) -> None:
        self._token = token
        super().__init__()

    @property
    def get_user(self) -> Callable[[Any], Any]:
        """A function that returns a user, or refuses the request."""
        return self._check

    @property
    def get_login_url(self) -> Callable[[Any], str]:
        """A function that is never called: requests are refused before."""
        return lambda handler: "/"

    def _check(self, handler: RequestHandler) -> str:
        # Connections have no token; Bokeh checks their signature, which only the page was given.
        if isinstance(handler, WebSocketHandler):
            return "user"
        given = handler.get_query_argument("token", "")
        if not hmac.compare_digest(given.encode(), self._token.encode()):
            raise HTTPError(403, reason="The address needs the token that isosne explore printed.")
        return "user"


class Refused(RequestHandler):
    """Answers that there is nothing, in place of handlers that the page does not need."""

    def prepare(self) -> None:
        """Refuse any request."""
        raise HTTPError(404)


class PageServer:
    """Serves a page in a thread of its own.

    ``make_page`` returns the content of the page, for each tab. Port 0 chooses a free one.
    """

    def __init__(
        self, make_page: Callable[[], Any], *, host: str = LOOPBACK, port: int = 0
    ) -> None:
        self.host, self.port, self.token = host, port, secrets.token_urlsafe(TOKEN_BYTES)
        self._make_page = make_page
        self._ready = threading.Event()
        self._loop: IOLoop | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)

    @property
    def address(self) -> str:
        """The address of the page, with its token."""
        return f"http://{_name_of(self.host)}:{self.port}/?token={self.token}"

    def start(self) -> None:
        """Start the server, and return when it accepts connections."""
        try:  # Bokeh must know its port before it listens, to check origins
            with socket.socket(socket.AF_INET6 if ":" in self.host else socket.AF_INET) as trial:
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                trial.bind((self.host or LOOPBACK, self.port))
                self.port = int(trial.getsockname()[1])
        except OSError as error:
            raise OutputError(
                f"Cannot listen on {self.host}, port {self.port}: {error}. "
                "Choose another port, or leave it out for a free one."
            ) from error
        self._thread.start()
        self._ready.wait(START_SECONDS)

    def stop(self) -> None:
        """Close all connections and end the thread."""
        if self._loop is not None and self._thread.is_alive():
            self._loop.add_callback(self._loop.stop)
            self._thread.join(START_SECONDS)

    def _work(self) -> None:
        # A tab that is closed while a frame is on its way is no reason for a warning.
        logging.getLogger("bokeh.server.views.ws").setLevel(logging.ERROR)
        events = asyncio.new_event_loop()
        events.set_exception_handler(ignore_closed_tabs)
        asyncio.set_event_loop(events)
        loop, names = IOLoop.current(), {_name_of(self.host), LOOPBACK, "localhost"}
        server = get_server(
            {"/": self._make_page},
            port=self.port,
            address=self.host,
            websocket_origin=[f"{name}:{self.port}" for name in names],
            loop=loop,
            title="isosne explore",
            auth_provider=TokenProvider(self.token),
            secret_key=secrets.token_urlsafe(TOKEN_BYTES),
            sign_sessions=True,
            session_token_expiration=DAY_SECONDS,
            websocket_max_message_size=MAX_MESSAGE_BYTES,
            extra_patterns=[(r"/components/.*", Refused)],
            transforms=[Policy],
        )
        server.start()
        self._loop = loop
        loop.add_callback(self._ready.set)
        loop.start()
        server.stop()
        loop.close()


def ignore_closed_tabs(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error that no one waits for, unless a tab was closed before a message arrived."""
    if not isinstance(context.get("exception"), WebSocketClosedError | StreamClosedError):
        loop.default_exception_handler(context)


def _name_of(host: str) -> str:
    """Return the name of this machine in addresses; Bokeh knows no numbers with colons."""
    if host == "::1":
        return "localhost"
    return socket.gethostname() if host in EVERYWHERE or ":" in host else host


@contextmanager
def browsing(address: str) -> Iterator[None]:
    """Open an address in the browser.

    The command line of a browser is public. So it gets a file that only this user can read, and
    that leads to the address; the file is deleted at the end.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / "explore.html"
        path.touch(mode=0o600)
        line = '<meta charset="utf-8"><meta http-equiv="refresh" content="0; url={}">'
        path.write_text(fill(line, address), encoding="utf-8")
        webbrowser.open(path.as_uri())
        yield
