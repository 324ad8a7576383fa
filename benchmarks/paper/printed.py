"""The results that the paper prints for its 21 data sets ("Evaluation results").

They are the best over a grid of parameters, selected separately for each measure and each kernel.
"""

from typing import NamedTuple


class Scores(NamedTuple):
    """A measure for the Gaussian and for the isolation kernel."""

    gaussian: float
    isolation: float


class Printed(NamedTuple):
    """A line of the table: the name in isosne, that in the paper, and three measures.

    ``auc_rnx`` is the area under the R_NX curve and ``ch`` the Calinski-Harabasz index: higher is
    better. ``db`` is the Davies-Bouldin index: lower is better.
    """

    name: str
    title: str
    auc_rnx: Scores
    db: Scores
    ch: Scores


_LINES = """
wine            Wine           0.65 0.67    0.52  0.43   625   853
dermatology     Dermatology    0.68 0.684   0.47  0.38  3679  8171
forest_type     ForestType     0.70 0.71    0.91  0.87   467   620
wdbc            WDBC           0.65 0.67    0.68  0.58   876  1167
ilpd            ILPD           0.68 0.69    3.92  3.71    24    28
control         Control        0.69 0.70    0.67  0.64  4011  6816
pima            Pima           0.70 0.72    2.97  2.87    67    76
parkinson       Parkinson      0.70 0.74    6.69  6.35    20    22
biodeg          Biodeg         0.74 0.77    2.04  1.69   154   183
mice            Mice           0.79 0.82    0.32  0.15  8326 50067
messidor        Messidor       0.71 0.74    6.36  6.02    26    28
hill            Hill           0.69 0.73   16.71 15.10     4   4.5
coil20          COIL20         0.75 0.79    3.10  2.67  2352  3730
human_activity  HumanActivity  0.78 0.79    2.68  2.29  1225  1728
isolet          Isolet         0.80 0.81    1.83  1.41  1746  2812
segment         Segment        0.68 0.72    1.30  1.51  7363  8337
spam            Spam           0.67 0.70    1.36  1.33  1832  1874
news20          News20         0.27 0.25    1.57  1.92  2732  2320
mnist10k        MNIST          0.66 0.64    1.13  0.93  6452  8024
rcv1            Rcv1           0.68 0.66    2.50  1.43  2421  4221
pendig          Pendig         0.69 0.693   1.14  1.10  6944  6777
"""


def _read(line: str) -> Printed:
    name, title, *numbers = line.split()
    auc_gk, auc_ik, db_gk, db_ik, ch_gk, ch_ik = map(float, numbers)
    return Printed(name, title, Scores(auc_gk, auc_ik), Scores(db_gk, db_ik), Scores(ch_gk, ch_ik))


PRINTED = {printed.name: printed for printed in map(_read, _LINES.strip().splitlines())}
