"""The paper's 21 data sets: sizes, printed results ("Evaluation results") and origins.

The printed results are the paper's best over a grid of parameters, selected separately for each
measure and each kernel. The paper does not print the number of classes; it is taken from the data,
or from the description of the original where only a stand-in is available.
"""

from typing import NamedTuple

UCI = "the UCI Machine Learning Repository"
ASU = "the feature selection repository of Arizona State University (scikit-feature)"
LIBSVM = "the data page of LIBSVM"


class Scores(NamedTuple):
    """A measure that the paper prints, for the Gaussian and for the isolation kernel.

    Examples
    --------
    >>> from isosne.datasets import record
    >>> record("wine").auc_rnx
    Scores(gaussian=0.65, isolation=0.67)
    """

    gaussian: float
    isolation: float


class OpenML(NamedTuple):
    """The id of a data set on OpenML, and how to convert it to that of the paper.

    ``first_row`` is the first row to use and ``drop_column`` a column to leave out. Rows with
    missing values are dropped, or filled with the mean of the column if ``fill_missing`` is true.
    """

    data_id: int
    first_row: int = 0
    drop_column: int | None = None
    fill_missing: bool = False


class StandIn(NamedTuple):
    """A stand-in: a data set that differs from the paper's in a known way.

    ``origin`` is the name of its files in the data folder, or "openml"; ``sizes`` are the numbers
    of points, attributes and classes.
    """

    origin: str
    sizes: tuple[int, int, int]
    note: str


class Record(NamedTuple):
    """A line of the paper's table of results, and the origins of the data set.

    ``name`` is the name in isosne, ``title`` that in the paper. ``auc_rnx`` is the area under the
    R_NX curve and ``ch`` the Calinski-Harabasz index: higher is better. ``db`` is the
    Davies-Bouldin index: lower is better. ``source`` is where to download the data manually.

    Examples
    --------
    >>> from isosne.datasets import record
    >>> wine = record("wine")
    >>> wine.n_points, wine.n_attributes, wine.n_classes
    (178, 13, 3)
    """

    name: str
    title: str
    n_points: int
    n_attributes: int
    n_classes: int
    auc_rnx: Scores
    db: Scores
    ch: Scores
    source: str
    openml: OpenML | None = None
    note: str = ""
    stand_ins: tuple[StandIn, ...] = ()

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of points, attributes and classes."""
        return self.n_points, self.n_attributes, self.n_classes


_LINES = """
wine            Wine            178       13    3  0.65 0.67     0.52  0.43   625   853
dermatology     Dermatology     358       34    6  0.68 0.684    0.47  0.38  3679  8171
forest_type     ForestType      523       27    4  0.70 0.71     0.91  0.87   467   620
wdbc            WDBC            569       30    2  0.65 0.67     0.68  0.58   876  1167
ilpd            ILPD            579        9    2  0.68 0.69     3.92  3.71    24    28
control         Control         600       60    6  0.69 0.70     0.67  0.64  4011  6816
pima            Pima            768        8    2  0.70 0.72     2.97  2.87    67    76
parkinson       Parkinson      1040       26    2  0.70 0.74     6.69  6.35    20    22
biodeg          Biodeg         1055       41    2  0.74 0.77     2.04  1.69   154   183
mice            Mice           1080       83    8  0.79 0.82     0.32  0.15  8326 50067
messidor        Messidor       1151       19    2  0.71 0.74     6.36  6.02    26    28
hill            Hill           1212      100    2  0.69 0.73    16.71 15.10     4     4.5
coil20          COIL20         1440     1024   20  0.75 0.79     3.10  2.67  2352  3730
human_activity  HumanActivity  1492      561    6  0.78 0.79     2.68  2.29  1225  1728
isolet          Isolet         1560      617   26  0.80 0.81     1.83  1.41  1746  2812
segment         Segment        2310       19    7  0.68 0.72     1.30  1.51  7363  8337
spam            Spam           4601       57    2  0.67 0.70     1.36  1.33  1832  1874
news20          News20         9998  1355191    2  0.27 0.25     1.57  1.92  2732  2320
mnist10k        MNIST         10000      784   10  0.66 0.64     1.13  0.93  6452  8024
rcv1            Rcv1          10121    47236    2  0.68 0.66     2.50  1.43  2421  4221
pendig          Pendig        10992       16   10  0.69 0.693    1.14  1.10  6944  6777
"""
"""Name, name in the paper, points, attributes, classes; AUC_RNX, DB and CH, each for the Gaussian
and for the isolation kernel. All numbers are from the paper's table, except for the classes."""

_OPENML = {
    "wine": OpenML(187),
    "dermatology": OpenML(35),
    "wdbc": OpenML(1510),
    "ilpd": OpenML(1480, drop_column=1),
    "control": OpenML(377),
    "pima": OpenML(37),
    "biodeg": OpenML(1494),
    "mice": OpenML(40966, fill_missing=True),
    "hill": OpenML(1479),
    "human_activity": OpenML(1478),
    "isolet": OpenML(300),
    "segment": OpenML(36),
    "spam": OpenML(44),
    "mnist10k": OpenML(554, first_row=60_000),
    "pendig": OpenML(32),
}

_SOURCES = {
    "coil20": ASU,
    "human_activity": ASU,
    "isolet": ASU,
    "news20": f"{LIBSVM} (news20.binary)",
    "rcv1": f"{LIBSVM} (rcv1_train.binary)",
    "forest_type": f"{UCI} (Forest type mapping)",
    "parkinson": f"{UCI} (Parkinson speech, multiple types of sound recordings, training file)",
    "messidor": f"{UCI} (Diabetic retinopathy Debrecen)",
}

_NOTES = {
    "dermatology": "The 8 rows without an age are left out.",
    "ilpd": "The column gender and the 4 rows without an A/G ratio are left out.",
    "mice": "The last six columns are one-hot codes of genotype, treatment and behavior: a guess "
    "at the 83 attributes of the paper. Together they determine the class; X[:, :77] leaves them "
    "out. Missing values are filled with the mean of their column.",
    "hill": "UCI has two variants, with and without noise; the paper does not say which it used.",
    "mnist10k": "These are the 10000 test digits: the paper gives only the size.",
}

_STAND_INS = {
    "ilpd": (
        StandIn(
            "openml",
            (583, 9, 2),
            "A stand-in: OpenML has 583 rows, the paper 579. The column gender is left out.",
        ),
    ),
    "mice": (
        StandIn(
            "openml",
            (1080, 77, 8),
            "A stand-in: the 77 proteins, without the 6 other columns of the paper's 83, which "
            "determine the class. Missing values are filled with the mean of their column.",
        ),
    ),
    "human_activity": (
        StandIn(
            "openml",
            (10299, 561, 6),
            "A stand-in: all 10299 windows; the paper uses 1492 and does not say which.",
        ),
    ),
    "isolet": (
        StandIn(
            "openml",
            (7797, 617, 26),
            "A stand-in: all 7797 recordings; the paper uses 1560, as the feature selection "
            "repository does.",
        ),
    ),
    "news20": (
        StandIn(
            "news20",
            (9998, 1604992, 20),
            "A stand-in: words and word pairs of 9998 messages of 20 Newsgroups, labeled by "
            "group. The paper uses 9998 rows of LIBSVM's news20.binary, with 1355191 attributes "
            "and 2 classes.",
        ),
    ),
    "rcv1": (
        StandIn(
            "rcv1_small",
            (1500, 47236, 2),
            "A stand-in: 1500 documents of RCV1 with the same attributes and classes; the paper "
            "uses 10121 of LIBSVM's rcv1_train.binary.",
        ),
    ),
}


def _read(line: str) -> Record:
    name, title, *numbers = line.split()
    n_points, n_attributes, n_classes = map(int, numbers[:3])
    auc_gk, auc_ik, db_gk, db_ik, ch_gk, ch_ik = map(float, numbers[3:])
    return Record(
        name,
        title,
        n_points,
        n_attributes,
        n_classes,
        auc_rnx=Scores(auc_gk, auc_ik),
        db=Scores(db_gk, db_ik),
        ch=Scores(ch_gk, ch_ik),
        source=_SOURCES.get(name, UCI),
        openml=_OPENML.get(name),
        note=_NOTES.get(name, ""),
        stand_ins=_STAND_INS.get(name, ()),
    )


RECORDS = {record.name: record for record in map(_read, _LINES.strip().splitlines())}
"""All 21 data sets by name, in the order of the paper's table."""
