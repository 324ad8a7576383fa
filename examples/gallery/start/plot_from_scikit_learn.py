"""
One changed line: coming from scikit-learn
==========================================

``isosne.compat.TSNE`` takes the parameters of scikit-learn's ``TSNE``. A program
that uses scikit-learn needs one changed line.
"""

from time import perf_counter

from sklearn.datasets import load_digits
from sklearn.manifold import TSNE as SklearnTSNE

from isosne import plots, quality
from isosne.compat import TSNE  # instead of: from sklearn.manifold import TSNE

X, y = load_digits(return_X_y=True)
X, y = X[:400], y[:400]
models = {
    "scikit-learn": SklearnTSNE(perplexity=30, random_state=0),
    "isosne.compat, perplexity 30": TSNE(perplexity=30, random_state=0),
    "isosne.compat, default": TSNE(random_state=0),
}
maps = {}
for name, model in models.items():
    began = perf_counter()
    Y = model.fit_transform(X)
    print(f"{name:30} {perf_counter() - began:.1f} s")
    maps[f"{name}\nAUC_RNX {quality.compare(X, Y).auc().value:.3f}"] = Y
axes = plots.plot_maps(maps, y)
axes[0].figure

# %%
# A parameter that is given has the meaning it has in scikit-learn:
# ``perplexity=30`` selects a Gaussian kernel. A parameter that is left out has
# isosne's default: the owner kernel, which needs no perplexity.
# :doc:`/other-packages` lists all parameters.
#
# The fitted ``isosne.TSNE`` is the attribute ``model_``. It can place new points,
# which scikit-learn's ``TSNE`` cannot do.

print(model.model_.transform(X[:3] + 0.1))
