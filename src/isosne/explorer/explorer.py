"""`isosne.explore`: the page in a notebook, and what is selected in it, in Python."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import panel as pn
import panel.io.notifications
from numpy.typing import NDArray
from panel.theme import Native
from sklearn.utils.validation import check_is_fitted

from isosne._html import escape, fill
from isosne.datasets.examples import load_table
from isosne.errors import DataError
from isosne.explorer.assets import read_asset
from isosne.explorer.data import Settings, from_python, from_table
from isosne.explorer.measuring import Measurer
from isosne.explorer.page import Page
from isosne.explorer.server import LOOPBACK, PageServer
from isosne.explorer.session import Session
from isosne.rows.table_reader import names_data_set, read_table
from isosne.tsne.estimator import TSNE

FRAME_HEIGHT = 900  # height of the page in a notebook, in pixels
STOP_SECONDS = 10.0  # how long to wait for the last step of a run
DISCONNECTED = "The server has ended, or cannot be reached. What is shown may be out of date."


class Explorer:
    """A page that shows a session; a notebook shows it in the output of a cell.

    Parameters
    ----------
    session : Session
        What is explored.
    host : str, default="127.0.0.1"
        Address to listen on.
    port : int, default=0
        Port to listen on; 0 chooses a free one.
    """

    def __init__(self, session: Session, *, host: str = LOOPBACK, port: int = 0) -> None:
        self._session = session
        self._measurer = Measurer(session)
        self._server = PageServer(self._make_page, host=host, port=port)

    def _make_page(self) -> Any:
        """Return the content of a tab. `pn.extension` would load scripts into a notebook."""
        pn.config.param.update(
            design=Native,
            raw_css=[read_asset("page.css")],
            notifications=True,
            disconnect_notification=DISCONNECTED,
        )
        data, document = self._session.rows, pn.state.curdoc
        sheets = data.images["sheets"] if data.images else []
        told = {"heading": escape(data.title), "n_rows": f"{data.n_rows:,}", "sheets": sheets}
        document.template_variables.update(told, script=read_asset("page.js"))
        document.template = read_asset("page.html")
        return Page(self._session).view()

    @property
    def address(self) -> str:
        """The address of the page; whoever has it can see the data."""
        return self._server.address

    @property
    def selection(self) -> NDArray[np.int64]:
        """The selected rows, as row numbers in ascending order."""
        return self._session.selection.copy()

    @property
    def names(self) -> dict[str, NDArray[np.int64]]:
        """The named selections: row numbers by name."""
        return {name: rows.copy() for name, rows in self._session.names.items()}

    @property
    def embedding(self) -> NDArray[np.float32]:
        """The first map as it is now, of shape (n_samples, 2); NaN before the first step."""
        return self._session.maps[0].Y.copy()

    def start(self) -> None:
        """Serve the page."""
        self._measurer.start()
        self._server.start()

    def close(self) -> None:
        """End all runs, and serve no more."""
        self._session.close()
        for shown in self._session.maps:
            shown.join(STOP_SECONDS)
        self._measurer.close()
        self._server.stop()

    def _repr_html_(self) -> str:
        return fill(
            '<iframe src="{}" width="100%" height="{}" '
            'style="border: 1px solid #d9dde1" title="isosne explore"></iframe>',
            *(self.address, FRAME_HEIGHT),
        )

    def __repr__(self) -> str:
        return f"Explorer at {self.address}"


def explore(
    data: Any,
    labels: Any = None,
    *,
    X: Any = None,
    ids: Any = None,
    columns: Mapping[str, Any] | None = None,
    images: Any = None,
    port: int = 0,
) -> Explorer:
    """Explore a table or a fitted model in the browser, or in the output of a notebook cell.

    Parameters
    ----------
    data : array, CSR, data frame, path, or TSNE
        The points, of which a map is computed; a path, as for `isosne.rows.open_rows`; or a
        fitted model, whose map is shown.
    labels : array of shape (n_samples,) or None, default=None
        The class of each point.
    X : array, CSR, data frame or None, default=None
        The points that a model was fitted on; required for a model.
    ids : array of shape (n_samples,) or None, default=None
        A unique identifier of each point. None: the row number.
    columns : mapping from str to array or None, default=None
        Additional data about the points.
    images : array of shape (n_samples, height, width[, 3]) or None, default=None
        An image of each point.
    port : int, default=0
        Port of the server; 0 chooses a free one.

    Returns
    -------
    Explorer
        A notebook shows it as a page. ``address`` opens it in a browser, ``selection`` has the
        selected rows, and ``close()`` ends it.

    Notes
    -----
    The page is served on this machine only, and needs the token in its address. The map is computed
    in a thread of its own, and Python stays free.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import isosne
    >>> explorer = isosne.explore(*load_iris(return_X_y=True))
    >>> explorer.selection
    array([], dtype=int64)
    >>> explorer.close()
    """
    if isinstance(data, TSNE):
        check_is_fitted(data)
        if X is None:
            raise DataError("A model needs its points. Pass them as X.")
        session = Session(from_python(X, labels, ids, columns).with_images(images))
        session.add_model(data)
    else:
        if isinstance(data, str | Path):
            is_set = names_data_set(data)
            table = load_table(str(data)) if is_set else read_table(data, text_columns="leave_out")
            rows = from_table(table, table, str(data), (None, None), (str(data),))
        else:
            rows = from_python(data, labels, ids, columns)
        session = Session(rows.with_images(images))
        session.begin(0, Settings())
    explorer = Explorer(session, port=port)
    explorer.start()
    return explorer
