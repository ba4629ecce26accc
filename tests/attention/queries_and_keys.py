"""What torch, entmax and skprob are given: the same numbers, made without a seed."""

import numpy as np

#: Name: mapping, and the shapes of query, key, value and mask.
CASES = {
    "plain": ("softmax", (3, 4), (6, 4), (6, 2), None),
    "heads": ("softmax", (2, 3, 4, 5), (2, 3, 7, 5), (2, 3, 7, 3), (4, 7)),
    "shared keys": ("softmax", (2, 3, 4, 5), (1, 1, 7, 5), (1, 1, 7, 3), (2, 1, 4, 7)),
    "sparsemax": ("sparsemax", (2, 5, 4), (2, 6, 4), (2, 6, 2), (2, 5, 6)),
    "entmax": ("entmax", (2, 5, 4), (2, 6, 4), (2, 6, 2), (2, 5, 6)),
    "entmax 1.25": ("entmax 1.25", (2, 5, 4), (2, 6, 4), (2, 6, 2), None),
}


def numbers(shape, frequency):
    return 2 * np.sin(frequency * np.arange(1.0, np.prod(shape) + 1)).reshape(shape)


def cotangent(shape):
    return numbers(shape, 1.3)


def arrays(name):
    """Query, key, value and mask of a case."""
    _, *shapes, mask = CASES[name]
    given = [numbers(s, f) for s, f in zip(shapes, (1.7, 2.9, 0.7), strict=True)]
    if mask is not None:
        mask = numbers(mask, 5.3) > -1
        mask[..., 0] = True
    return *given, mask
