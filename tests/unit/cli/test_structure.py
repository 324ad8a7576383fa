"""Clusters, outliers and the null test on the command line."""

import numpy as np

from isosne import IsolationOutliers, LeidenClustering, OwnerKernel
from isosne.rows import read_map
from isosne.structure import null_test
from tests.unit.cli.conftest import COLUMNS, SHORT, points_of

EMBED = ("embed", "wine.csv", *COLUMNS, *SHORT)
REPORT = ("report", "wine.csv", *COLUMNS, *SHORT, "--n-seeds", 1, "-o", "report.html")


def test_clusters_and_outliers_are_columns_of_the_map(wine, isosne):
    found = isosne(*EMBED, "--clusters", 0.5, "--outliers", "-o", "map.csv")
    drawn = read_map("map.csv")
    X = points_of(wine)
    clusters = LeidenClustering(random_state=0).fit(X)
    np.testing.assert_array_equal(drawn.columns["cluster"], clusters.labels_)
    outliers = IsolationOutliers(random_state=0).fit(X)
    scores = outliers.score_samples(X)
    np.testing.assert_allclose(drawn.columns["outlier_score"], 1 - scores / scores.max())
    n_outliers = (outliers.predict(X) == -1).sum()
    assert drawn.provenance["clusters"]["n_clusters"] == clusters.n_clusters_
    assert drawn.provenance["clusters"]["stability"] == clusters.stability_
    assert drawn.provenance["outliers"] == {"psi": 12, "n_outliers": n_outliers}
    *_, first, second, _ = found.stderr.splitlines()
    assert first == (
        f"{clusters.n_clusters_} clusters at resolution 0.5. Runs with different seeds agree to "
        f"{clusters.stability_:.2f} (mean adjusted Rand index; 1 is complete agreement)."
    )
    assert second == (
        f"{n_outliers} of 178 rows are likely outliers: their similarity to the data is less than "
        "a quarter of the median."
    )


def test_a_report_has_the_structure_on_request(wine, here, isosne):
    found = isosne(*REPORT, "--clusters", 0.5, "--outliers", "--null", 3)
    assert "Drawing null data 3 times" in found.stderr
    page = (here / "report.html").read_text()
    X = points_of(wine)
    kernel = OwnerKernel(random_state=int(np.random.default_rng(0).integers(2**31)))
    lead, _, rest = str(null_test(X, kernel, n_draws=3)).partition(": ")
    for told in (f"<b>{lead}:</b> {rest}</p>", "<b>Is cluster 1 real?</b> ", "--null 3"):
        assert told in page
    for name in ("null_p", "cluster", "outlier_score"):
        assert f'"{name}"' in page or f"&#34;{name}&#34;" in page
