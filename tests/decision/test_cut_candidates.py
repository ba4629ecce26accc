"""Counts at candidates for cuts, and gains of F1 with their errors, against loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from skprob.decision._cut_candidates import (
    CandidateCounts,
    Predictions,
    macro_gain,
    micro_gain,
)

N_ROWS, N_LABELS, N_FOLDS, COMMON = 60, 3, 5, 0.3
RNG = np.random.default_rng(0)
P = RNG.random((N_ROWS, N_LABELS))
LABELS = (RNG.random(P.shape) < P).astype(int)
WEIGHT = RNG.uniform(0.5, 2, N_ROWS)
COUNTS = CandidateCounts.of(
    np.array_split(P, 4), sparse.csr_array(LABELS), WEIGHT, COMMON
)


def counted(rows, label, step):
    """Weights of the rows that are hits, above the cut, and true."""
    is_above = P[rows, label] > COMMON * 2 ** (step / 8)
    is_true, weight = LABELS[rows, label] == 1, WEIGHT[rows]
    return [weight[i].sum() for i in (is_above & is_true, is_above, is_true)]


@pytest.mark.parametrize("step", [-32, -5, 0, 7, 32])
def test_counts_are_those_of_loops(step):
    all_folds = COUNTS.at(np.full(N_LABELS, step))
    for fold in range(N_FOLDS):
        rows = np.arange(fold, N_ROWS, N_FOLDS)
        others = np.setdiff1d(np.arange(N_ROWS), rows)
        without = COUNTS.others()
        other_folds = without.at(np.full(N_LABELS, step))
        for k in range(N_LABELS):
            given = all_folds.hits, all_folds.predicted, COUNTS.true
            expected = counted(rows, k, step)
            assert_allclose([array[fold, k] for array in given], expected)
            given = other_folds.hits, other_folds.predicted, without.true
            expected = counted(others, k, step)
            assert_allclose([array[fold, k] for array in given], expected)
    (n_rows,) = COUNTS.summed().n_rows
    assert_allclose(n_rows, WEIGHT @ LABELS / WEIGHT.mean())


def random_predictions():
    """Two sets of predictions of the folds, and the weights of true entries."""
    true = RNG.uniform(5, 9, (N_FOLDS, N_LABELS))
    hits = [true * RNG.uniform(0.3, 0.9, true.shape) for _ in range(2)]
    return [Predictions(h, h + RNG.uniform(0, 4, h.shape)) for h in hits], true


def test_the_gain_of_micro_f1_is_its_derivative():
    (candidate, reference), true = random_predictions()

    def f1(shares):
        """With a share of the candidate's change in each fold."""
        hits, predicted = (
            sum(old[i] + shares[i] * (new[i] - old[i]) for i in range(N_FOLDS)).sum()
            for old, new in zip(reference, candidate, strict=True)
        )
        return 2 * hits / (predicted + true.sum())

    steps = 1e-5 * np.eye(N_FOLDS)
    of_folds = [(f1(step) - f1(-step)) / 2e-5 for step in steps]
    gain, error = micro_gain(candidate, reference, true)
    assert_allclose(gain, sum(of_folds), rtol=1e-7)
    variance = sum((each - np.mean(of_folds)) ** 2 for each in of_folds) / 4
    assert_allclose(error, np.sqrt(N_FOLDS * variance), rtol=1e-7)


def test_the_error_of_macro_f1_is_that_of_the_jackknife():
    (candidate, reference), true = random_predictions()

    def macro_f1(predictions, folds):
        f1 = []
        for k in range(N_LABELS):
            hits, predicted, labels = (
                sum(array[fold, k] for fold in folds) for array in (*predictions, true)
            )
            f1.append(2 * hits / (predicted + labels))
        return sum(f1) / N_LABELS

    def difference(folds):
        return macro_f1(candidate, folds) - macro_f1(reference, folds)

    everything = range(N_FOLDS)
    without = [difference([j for j in everything if j != i]) for i in everything]
    squares = sum((each - np.mean(without)) ** 2 for each in without)
    gain, error = macro_gain(candidate, reference, true)
    assert_allclose(gain, difference(everything))
    assert_allclose(error, np.sqrt((N_FOLDS - 1) / N_FOLDS * squares))
