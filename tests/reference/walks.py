"""Return probabilities of random walks, step by step."""

import numpy as np


def return_probabilities(P, n_steps):
    """The probability that a walk from each point is back after n steps.

    The walk goes from i to j with probability p_ij divided by the sum of row i.
    """
    step = P / P.sum(axis=1, keepdims=True)
    found = []
    for i in range(len(P)):
        place = np.zeros(len(P))
        place[i] = 1
        for _ in range(n_steps):
            place = place @ step
        found.append(place[i])
    return np.array(found)
