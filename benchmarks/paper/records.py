"""The paper's 21 data sets: sizes and origins.

The paper does not print the number of classes; it is taken from the data, or from the description
of the original where only a stand-in is available.
"""

from typing import NamedTuple

UCI = "the UCI Machine Learning Repository"
ASU = "the feature selection repository of Arizona State University (scikit-feature)"
LIBSVM = "the data page of LIBSVM"

Sizes = tuple[int, int, int]
"""Numbers of points, attributes and classes."""


class OpenML(NamedTuple):
    """The id of a data set on OpenML, the first row and the column to leave out, if any.

    Rows with missing values are dropped, or filled with the mean of the column (`fill_missing`).
    """

    data_id: int
    first_row: int = 0
    drop_column: int | None = None
    fill_missing: bool = False


class StandIn(NamedTuple):
    """A data set that differs from the paper's; `origin`: the name of its files, or "openml"."""

    origin: str
    sizes: Sizes
    note: str


class Record(NamedTuple):
    """A data set of the paper; `source` is where to download it manually."""

    sizes: Sizes
    openml: OpenML | None = None
    source: str = UCI
    note: str = ""
    stand_in: StandIn | None = None


NO_AGE = "The 8 rows without an age are left out."
NO_GENDER = "The column gender and the 4 rows without an A/G ratio are left out."
ALL_ILPD = "A stand-in: OpenML has 583 rows, the paper 579. The column gender is left out."
CODED_MICE = (
    "The last six columns are one-hot codes of genotype, treatment and behavior: a guess at the 83 "
    "attributes of the paper. Together they determine the class; X[:, :77] leaves them out. "
    "Missing values are filled with the mean of their column."
)
FEWER_MICE = (
    "A stand-in: the 77 proteins, without the 6 other columns of the paper's 83, which determine "
    "the class. Missing values are filled with the mean of their column."
)
PARKINSON = f"{UCI} (Parkinson speech, multiple types of sound recordings, training file)"
TWO_HILLS = "UCI has two variants, with and without noise; the paper does not say which it used."
ALL_ACTIVITY = "A stand-in: all 10299 windows; the paper uses 1492 and does not say which."
ALL_ISOLET = (
    "A stand-in: all 7797 recordings; the paper uses 1560, as the feature selection "
    "repository does."
)
OTHER_NEWS = (
    "A stand-in: words and word pairs of 9998 messages of 20 Newsgroups, labeled by group. The "
    "paper uses 9998 rows of LIBSVM's news20.binary, with 1355191 attributes and 2 classes."
)
TEST_DIGITS = "These are the 10000 test digits: the paper gives only the size."
FEWER_RCV1 = (
    "A stand-in: 1500 documents of RCV1 with the same attributes and classes; the paper uses 10121 "
    "of LIBSVM's rcv1_train.binary."
)
RECORDS = {
    "wine": Record((178, 13, 3), OpenML(187)),
    "dermatology": Record((358, 34, 6), OpenML(35), note=NO_AGE),
    "forest_type": Record((523, 27, 4), source=f"{UCI} (Forest type mapping)"),
    "wdbc": Record((569, 30, 2), OpenML(1510)),
    "ilpd": Record(
        *((579, 9, 2), OpenML(1480, drop_column=1), UCI, NO_GENDER),
        StandIn("openml", (583, 9, 2), ALL_ILPD),
    ),
    "control": Record((600, 60, 6), OpenML(377)),
    "pima": Record((768, 8, 2), OpenML(37)),
    "parkinson": Record((1040, 26, 2), source=PARKINSON),
    "biodeg": Record((1055, 41, 2), OpenML(1494)),
    "mice": Record(
        *((1080, 83, 8), OpenML(40966, fill_missing=True), UCI, CODED_MICE),
        StandIn("openml", (1080, 77, 8), FEWER_MICE),
    ),
    "messidor": Record((1151, 19, 2), source=f"{UCI} (Diabetic retinopathy Debrecen)"),
    "hill": Record((1212, 100, 2), OpenML(1479), note=TWO_HILLS),
    "coil20": Record((1440, 1024, 20), source=ASU),
    "human_activity": Record(
        *((1492, 561, 6), OpenML(1478), ASU),
        stand_in=StandIn("openml", (10299, 561, 6), ALL_ACTIVITY),
    ),
    "isolet": Record(
        *((1560, 617, 26), OpenML(300), ASU),
        stand_in=StandIn("openml", (7797, 617, 26), ALL_ISOLET),
    ),
    "segment": Record((2310, 19, 7), OpenML(36)),
    "spam": Record((4601, 57, 2), OpenML(44)),
    "news20": Record(
        *((9998, 1355191, 2), None, f"{LIBSVM} (news20.binary)"),
        stand_in=StandIn("news20", (9998, 1604992, 20), OTHER_NEWS),
    ),
    "mnist10k": Record((10000, 784, 10), OpenML(554, first_row=60_000), note=TEST_DIGITS),
    "rcv1": Record(
        *((10121, 47236, 2), None, f"{LIBSVM} (rcv1_train.binary)"),
        stand_in=StandIn("rcv1_small", (1500, 47236, 2), FEWER_RCV1),
    ),
    "pendig": Record((10992, 16, 10), OpenML(32)),
}
"""All 21 data sets by name, in the order of the paper's table."""
