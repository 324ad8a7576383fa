"""`isosne datasets`."""


def test_examples_are_listed_with_their_shapes(isosne):
    assert [line.split() for line in isosne("datasets").stdout.splitlines()] == [
        ["name", "points", "attributes", "classes"],
        ["breast_cancer", "569", "30", "2"],
        ["digits", "1797", "64", "10"],
        ["iris", "150", "4", "3"],
        ["wine", "178", "13", "3"],
    ]
