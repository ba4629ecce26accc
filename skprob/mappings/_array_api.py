"""Kernels for arrays of any library that follows the array API standard.

NumPy arrays have faster kernels, which work in place. The modules of these kernels call
the functions here for all other arrays. Arguments and results are the same, but no
argument is overwritten. The folders `entmax/` and `sparse_softmax/` have such a module,
too.
"""

from .._utils.arrays import namespace, row_sum


def softmax(scores):
    """Probabilities and potential of standard scores."""
    xp = namespace(scores)
    p = xp.exp(scores)
    total = row_sum(p)
    return p / total, xp.log(total)[:, 0]


def shannon(probabilities):
    """Sum of p log p in each row."""
    xp = namespace(probabilities)
    positive = probabilities > 0
    logarithm = xp.log(xp.where(positive, probabilities, 1.0))
    return xp.sum(probabilities * logarithm, axis=1)


def power(p, exponent):
    """p^exponent where p > 0, 0 elsewhere."""
    xp = namespace(p)
    positive = p > 0
    if exponent == 0:
        return xp.astype(positive, p.dtype)
    logarithm = xp.log(xp.where(positive, p, 1.0))
    return xp.where(positive, xp.exp(exponent * logarithm), 0.0)
