"""
An interactive page to share
============================

:func:`~isosne.pages.write_page` writes a map as one HTML file. Readers can zoom,
hover over points, color by any column, select points with a lasso and save them as
a table. The file contains everything it needs: it can be sent by mail, and opens
without a network.
"""

from base64 import b64encode
from pathlib import Path
from tempfile import TemporaryDirectory

from IPython.display import IFrame
from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

from isosne import TSNE, plots, quality
from isosne.pages import write_page

wine = load_wine(as_frame=True)
X = minmax_scale(wine.data)
Y = TSNE(random_state=0).fit_transform(X)
cultivar = wine.target.map(dict(enumerate(wine.target_names)))

with TemporaryDirectory() as folder:
    page = write_page(
        Path(folder) / "wine.html",
        Y,
        labels=cultivar,
        columns=wine.data,
        trust=quality.compare(X, Y).trust(),
        title="178 wines",
    )
    html = page.read_bytes()
print(f"{len(html) / 1e6:.1f} MB")

# %%
# The page, in a frame:

IFrame(
    f"data:text/html;base64,{b64encode(html).decode()}", width="100%", height=640
)

# %%
# The same map as a picture, for print:

plots.plot_map(Y, cultivar).figure
