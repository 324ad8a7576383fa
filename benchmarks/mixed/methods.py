"""The ways to map a table, as functions of a data frame and a seed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

from isosne import TSNE, OwnerKernel, TableForest
from isosne.tables import gower_points

Map = Callable[[pd.DataFrame, int], np.ndarray]


def forest(frame: pd.DataFrame, seed: int) -> np.ndarray:
    """Return the map that isosne makes by default."""
    return TSNE(random_state=seed).fit(frame).embedding_


def shares(frame: pd.DataFrame, seed: int) -> np.ndarray:
    """Return a map whose affinities are the shares of trees in which two rows are together."""
    codes = TableForest(random_state=seed).fit_transform(frame)
    together = 1 - pairwise_distances(codes, metric="hamming")
    np.fill_diagonal(together, 0)
    return TSNE("precomputed", random_state=seed).fit(together + 1e-12).embedding_


def by_leaf_size(leaf_size: Any) -> Map:
    """Return the default with other leaf sizes, 400 trees in all."""

    def draw(frame: pd.DataFrame, seed: int) -> np.ndarray:
        n_trees = 400 // len(leaf_size)
        codes = TableForest(leaf_size, n_trees=n_trees, random_state=seed).fit_transform(frame)
        model = TSNE(OwnerKernel(metric="hamming"), random_state=seed)
        return model.fit(codes).embedding_

    return draw


def gower(frame: pd.DataFrame, seed: int) -> np.ndarray:
    """Return the map of the default kernel over Gower's distance."""
    model = TSNE(OwnerKernel(metric="gower"), random_state=seed)
    return model.fit(gower_points(frame)).embedding_


def encoded(frame: pd.DataFrame) -> np.ndarray:
    """Impute medians and modes, scale numbers to 0 to 1, and encode categories as one-hot."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), MinMaxScaler())
    categories = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(sparse_output=False)
    )
    is_number = make_column_selector(dtype_include="number")
    is_category = make_column_selector(dtype_exclude="number")
    frame = frame.loc[:, frame.notna().any()]
    return make_column_transformer((numbers, is_number), (categories, is_category)).fit_transform(
        frame
    )


def one_hot(kernel: str) -> Map:
    """Return t-SNE of the encoded table with a kernel of isosne."""
    return lambda frame, seed: TSNE(kernel, random_state=seed).fit(encoded(frame)).embedding_


def one_hot_umap(frame: pd.DataFrame, seed: int) -> np.ndarray:
    """Return umap-learn's map of the encoded table."""
    from umap import UMAP

    return np.asarray(UMAP(random_state=seed, n_jobs=1).fit_transform(encoded(frame)))


METHODS: dict[str, Map] = {
    "TSNE().fit(frame)": forest,
    "one-hot, owner": one_hot("owner"),
    "one-hot, Gaussian": one_hot("gaussian"),
    "one-hot, UMAP": one_hot_umap,
    "Gower, owner": gower,
}
FORMS: dict[str, Map] = {
    "leaves of 4": by_leaf_size((4,)),
    "leaves of 16": by_leaf_size((16,)),
    "leaves of 2 to 16": by_leaf_size((2, 4, 8, 16)),
    "shares as affinities": shares,
}
"""Other forms of the trees."""
