"""
Text documents
==============

A map of documents, made from the words that they use. The documents are the
docstrings of SciPy: one for each public function or class of seven subpackages.

TF-IDF gives a sparse matrix with one column per word. isosne does not convert it
to a dense array. Rows of text are compared by the angle between them:
``metric="cosine"``.
"""

import inspect
from importlib import import_module

from sklearn.feature_extraction.text import TfidfVectorizer

from isosne import TSNE, OwnerKernel, plots, quality

PACKAGES = ["fft", "interpolate", "linalg", "ndimage", "signal", "spatial", "stats"]

documents, package, title = [], [], []
for name in PACKAGES:
    module = import_module(f"scipy.{name}")
    for member in sorted(module.__all__):
        text = inspect.getdoc(getattr(module, member))
        if (
            text
            and len(text) > 500
            and not inspect.ismodule(getattr(module, member))
        ):
            documents.append(text)
            package.append(name)
            title.append(member)

vectorizer = TfidfVectorizer(
    stop_words="english", token_pattern="[a-z]{3,}", min_df=2
)
X = vectorizer.fit_transform(documents)
print(f"{X.shape[0]} documents, {X.shape[1]} words")

# %%
Y = TSNE(OwnerKernel(metric="cosine"), random_state=0).fit_transform(X)
ax = plots.plot_map(Y, package, title="Docstrings of SciPy by subpackage")
ax.figure

# %%
# Documents that lie together are about the same subject. These are the nearest in
# the map to ``scipy.stats.ttest_ind``, which compares the means of two samples:

center = Y[title.index("ttest_ind")]
order = ((Y - center) ** 2).sum(axis=1).argsort()
print(", ".join(f"{package[i]}.{title[i]}" for i in order[1:9]))

# %%
# The measures must use the metric of the map.

quality.report(X, Y, package, metric="cosine")
