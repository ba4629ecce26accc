"""The search for scores at which a mapping does not have a property."""

from __future__ import annotations

import numpy as np

from ..._utils.typing import RandomState
from ..._utils.warnings import warn
from ...mappings import MappingLike, get_mapping
from ._properties import PROPERTIES, Counterexample

# Numbers of classes, and rows of each kind and number of classes, that are tried.
_N_CLASSES = (2, 3, 4, 12)
_N_SAMPLES = 300
# Number of errors of the mapping after which a search ends. Rows with errors are found
# by halving, which takes two calls a row: without a limit the search for a potential of
# the identity takes 25 seconds.
_MAX_ERRORS = 2000


def find_counterexamples(
    mapping: MappingLike, random_state: RandomState = 0
) -> dict[str, Counterexample | None]:
    """Search for scores at which a mapping does not have properties of softmax.

    The search tries 900 rows each of 2, 3, 4 and 12 classes, with small integers (with
    many ties) and with other numbers as scores; for some properties these rows also
    shifted, permuted, scaled, or moved along cycles. It cannot prove a property. Rows
    for which the mapping raises an error are left out. After 2,000 errors the search
    for a property ends, with a warning.

    Parameters
    ----------
    mapping : str, Mapping or callable
        A registered name, a mapping, or a function from scores to probabilities.
    random_state : int, default=0
        Seed of the search.

    Returns
    -------
    counterexamples : dict of str to Counterexample or None
        For each name in `PROPERTIES` a counterexample with the smallest number of
        classes; None if none was found.

    Raises
    ------
    ValueError
        If `mapping` is none of the above.

    See Also
    --------
    mapping_table : Probabilities of several mappings for one row of scores.

    Examples
    --------
    >>> from skprob.inspection import find_counterexamples
    >>> found = find_counterexamples("sparsemax")
    >>> [name for name, example in found.items() if example is not None]
    ['strictly positive']
    >>> example = found["strictly positive"]
    >>> bool((example.probabilities == 0).any())
    True
    """
    mapping = get_mapping(mapping)
    counterexamples, ended = {}, {}
    for name, search in PROPERTIES.items():
        counterexamples[name] = None
        try:
            counterexamples[name] = _first(_Limited(mapping), search, random_state)
        except _TooManyErrors as error:
            ended[name] = error.__cause__
    if ended:
        warn(
            f"The search for counterexamples of {list(ended)} ended after "
            f"{_MAX_ERRORS} errors of the mapping, of which the last was: "
            f"{list(ended.values())[-1]}"
        )
    return counterexamples


class _TooManyErrors(Exception):
    """The mapping raised more errors than the search for a property allows."""


class _Limited:
    """A mapping that ends the search after too many errors."""

    def __init__(self, mapping):
        self._mapping, self._n_errors = mapping, 0

    def __call__(self, scores):
        try:
            return self._mapping(scores)
        except ValueError as error:
            self._n_errors += 1
            if self._n_errors >= _MAX_ERRORS:
                raise _TooManyErrors from error
            raise


def _first(mapping, search, seed):
    """The first counterexample, of the smallest number of classes, or None."""
    for n_classes in _N_CLASSES:
        rng = np.random.default_rng(seed)
        for scores in _trial_scores(n_classes, rng):
            example = search(mapping, scores, rng)
            if example is not None:
                return example
    return None


def _trial_scores(n_classes, rng):
    """Rows of small binary fractions: readable, and shifted without rounding."""
    shape = (_N_SAMPLES, n_classes)
    yield rng.integers(-3, 4, shape).astype(float)
    yield rng.integers(-10, 11, shape) / 2
    yield rng.integers(-32, 33, shape) / 16
