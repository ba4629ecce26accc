"""Searches for label sets choose thresholds by the rows that their folds leave out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import f1_score, get_scorer
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold

from skprob import EntmaxClassifier, EntmaxClassifierCV
from skprob.decision import CommonCut, LabelCuts, get_rule
from skprob.linear_model.base import BaseLinearClassifier
from skprob.linear_model.search._label_sets import _chosen_rows

from ..assertions import assert_refused
from ..data_sets import label_sets

ALPHAS, STRENGTHS = [1.0, 2.0], [10.0]
FOLDS = KFold(3, shuffle=True, random_state=0)
REPEATED = RepeatedKFold(n_splits=2, n_repeats=2, random_state=0)
ONE = [(np.arange(40), np.arange(40, 60))]
CASES = [
    ("auto", FOLDS, "all have labels"),
    ("macro", FOLDS, "a class for empty rows"),
    ("auto", FOLDS, "empty rows are left out"),
    (LabelCuts("micro"), FOLDS, "weights"),
    ("cv", REPEATED, "all have labels"),
    (LabelCuts("micro"), ONE, "all have labels"),
]


def rule_of(threshold, p, Y, weight, may_be_empty):
    """A rule that is fitted to probabilities, and a function that makes sets."""
    if threshold == "cv":
        rule = CommonCut().fit(p, Y, weight)
        return rule, lambda p: p > rule.cut_
    rule = get_rule("micro" if threshold == "auto" else threshold)
    rule.fit(p, Y, weight)
    rule.may_be_empty_ = may_be_empty
    return rule, rule.predict


@pytest.mark.filterwarnings("ignore:.* rows have no label:UserWarning")
@pytest.mark.parametrize(("threshold", "cv", "case"), CASES)
def test_thresholds_and_scores_by_fits_one_by_one(threshold, cv, case):
    """The rows of a fold are scored with the threshold by the rows of other folds."""
    (X, Y), weight = label_sets(), np.ones(60)
    if "empty" in case:
        Y[::7] = 0
    if case == "weights":
        weight = np.random.default_rng(0).integers(0, 3, len(Y)).astype(float)
    params = {"tol": 1e-9, "none_class": "left out" not in case}
    search = EntmaxClassifierCV(
        ALPHAS, STRENGTHS, cv=cv, threshold=threshold, **params
    ).fit(X, Y, sample_weight=weight)
    splits = list(cv.split(X) if hasattr(cv, "split") else cv)
    chooses = weight > 0
    if "left out" in case:
        chooses &= Y.any(axis=1)
    tests = [test for _, test in splits]
    if len(splits) == 1:
        tests = [tests[0][k::5] for k in range(5)]
    for i, j in np.ndindex(2, 1):
        single = EntmaxClassifier(ALPHAS[i], C=STRENGTHS[j], threshold=0.2, **params)
        p = []
        for k, test in enumerate(tests):
            train = splits[min(k, len(splits) - 1)][0]
            single.fit(X[train], Y[train], sample_weight=weight[train])
            p.append(single.predict_proba(X[test]))

        def chosen_by(rows_of_part, p=p):
            chosen = [rows_of_part(test) & chooses[test] for test in tests]
            p_of_rows = np.vstack([a[b] for a, b in zip(p, chosen, strict=True)])
            order = np.hstack([a[b] for a, b in zip(tests, chosen, strict=True)])
            empty = not Y.any(axis=1).all()
            return rule_of(threshold, p_of_rows, Y[order], weight[order], empty)

        scores = []
        for p_of_test, test in zip(p, tests, strict=True):
            _, sets_of = chosen_by(lambda rows, test=test: ~np.isin(rows, test))
            scores.append(
                f1_score(
                    Y[test],
                    sets_of(p_of_test),
                    average="micro",
                    sample_weight=weight[test],
                )
            )
        scores = np.mean(scores) if len(splits) == 1 else scores
        assert_allclose(search.scores_[:, i, j], scores, atol=1e-12)
        if (search.alpha_, search.C_) == (ALPHAS[i], STRENGTHS[j]):
            rule, sets_of = chosen_by(lambda rows: np.ones(len(rows), dtype=bool))
            single.fit(X, Y, sample_weight=weight)
            probabilities = single.predict_proba(X)
            assert_allclose(search.predict_proba(X), probabilities, atol=1e-7)
            assert_array_equal(search.predict(X), sets_of(probabilities))
            if threshold == "cv":
                assert search.threshold_ == pytest.approx(rule.cut_, abs=1e-6)


def test_leave_one_out_thresholds_are_those_of_single_fits():
    """Beside a model without each row: the threshold, and the score of five parts."""
    X, Y = label_sets()
    search = EntmaxClassifierCV([1.0], [1.0], cv="loo", threshold="cv").fit(X, Y)
    single = EntmaxClassifier(1.0, C=1.0, threshold=0.2, tol=1e-8)
    p = np.vstack(
        [
            single.fit(X[train], Y[train]).predict_proba(X[test])
            for train, test in LeaveOneOut().split(X)
        ]
    )
    assert search.threshold_ == pytest.approx(CommonCut().fit(p, Y).cut_, rel=0.02)
    scores = []
    for k in range(5):
        part = np.arange(60) % 5 == k
        cut = CommonCut().fit(p[~part], Y[~part]).cut_
        scores.append(f1_score(Y[part], p[part] > cut, average="micro"))
    assert search.scores_.ravel() == pytest.approx(np.mean(scores), abs=0.01)


def test_rows_are_chosen_across_blocks():
    p, is_chosen = np.arange(20.0).reshape(10, 2), np.arange(10) % 4 > 1
    blocks = np.split(p, [3, 4, 6])  # No row of the third block is chosen.
    is_chosen[4:6] = False
    chosen = np.concatenate(list(_chosen_rows(blocks, is_chosen)))
    assert_array_equal(chosen, p[is_chosen])


def test_no_further_fits(monkeypatch):
    """Each candidate is fitted once in each fold, and the chosen one to all rows."""
    X, Y = label_sets()
    sizes, fit = [], BaseLinearClassifier.fit
    monkeypatch.setattr(
        BaseLinearClassifier,
        "fit",
        lambda self, X, *args, **given: sizes.append(len(X)) or fit(self, X, *args),
    )
    search = EntmaxClassifierCV(ALPHAS, STRENGTHS, cv=FOLDS).fit(X, Y)
    assert search.n_iter_.size == 6
    assert sizes == [60]


def test_the_default_score_is_micro_F1():
    X, Y = label_sets()
    weight = np.linspace(0, 1, 60)
    search = EntmaxClassifierCV(ALPHAS, STRENGTHS, cv=FOLDS, threshold="support")
    named = EntmaxClassifierCV(
        ALPHAS, STRENGTHS, cv=FOLDS, threshold="support", scoring="f1_micro"
    )
    search.fit(X, Y, sample_weight=weight)
    assert_allclose(search.scores_, named.fit(X, Y, sample_weight=weight).scores_)
    assert named.score(X, Y) == get_scorer("f1_micro")(search, X, Y)


def test_folds_that_leave_out_no_label():
    X, Y = label_sets()
    Y[40:] = 0
    search = EntmaxClassifierCV([1.0], [1.0], cv=ONE)
    assert_refused("cv must leave out a row with a label .*'auto'", search.fit, X, Y)
