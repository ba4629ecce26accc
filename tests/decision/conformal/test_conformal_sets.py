"""Sets with a guarantee: what they contain, how often, and what is refused."""

import pickle

import numpy as np
import pytest
import sklearn
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    KFold,
    RepeatedStratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import EntmaxClassifier, SigmoidClassifier, SoftmaxClassifier
from skprob.decision import ConformalSets
from skprob.mappings import entmax

from .calibrated import IRIS, SCORE_FUNCTIONS, multilabel, nonconformity, prefit
from .given_responses import (
    GivenProbabilities,
    GivenScores,
    softmax_rows,
)


@pytest.mark.parametrize("by", [None, "class"])
@pytest.mark.parametrize("given", [GivenScores, GivenProbabilities])
@pytest.mark.parametrize("score_function", SCORE_FUNCTIONS)
def test_sets_are_those_of_an_independent_implementation(score_function, given, by):
    """Scores are logarithms of probabilities, which are softmax of scores."""
    z, p, y = softmax_rows(400, 5)
    coverage = 0.85
    model = ConformalSets(
        given(),
        coverage=coverage,
        score_function=score_function,
        cv="prefit",
        by=by,
        never_empty=False,
    )
    X = z if given is GivenScores else p
    model.estimator.fit(X, y)
    model.fit(X[:300], y[:300])
    s = nonconformity(score_function, z, p)
    expected = np.empty_like(s, dtype=bool)
    for k in range(5):
        rows = np.arange(300) if by is None else np.flatnonzero(y[:300] == k)
        true = np.sort(s[rows, y[rows]])
        rank = int(np.ceil(round((len(rows) + 1) * coverage, 9)))
        expected[:, k] = s[:, k] <= true[rank - 1] * (1 + 1e-12)
    assert_array_equal(model.predict_set(X), expected)
    assert 1 < expected.sum(axis=1).mean() < 4


@pytest.mark.parametrize(("by", "never_empty"), [(None, True), ("class", False)])
@pytest.mark.parametrize("score_function", SCORE_FUNCTIONS)
def test_coverage_is_at_least_what_was_asked_for(score_function, by, never_empty):
    """Over many draws of calibration rows and new rows: the mean is beta's."""
    hits, n_calibration, coverage = [], 60, 0.8
    for seed in range(75):
        z, _p, y = softmax_rows(n_calibration + 200, 3, seed, spread=1.0)
        model = ConformalSets(
            GivenScores(),
            coverage=coverage,
            score_function=score_function,
            cv="prefit",
            by=by,
            never_empty=never_empty,
        )
        model.estimator.fit(z, y)
        model.fit(z[:n_calibration], y[:n_calibration])
        sets = model.predict_set(z[n_calibration:])
        hits.append(sets[np.arange(200), y[n_calibration:]])
    per_draw = np.mean(hits, axis=1)
    error = per_draw.std(ddof=1) / np.sqrt(len(hits))
    assert per_draw.mean() >= coverage - 3 * error
    # Without ties it exceeds the level by 1 / (n + 1) at most, n of each class.
    most = coverage + 1 / (n_calibration + 1 if by is None else 8)
    assert per_draw.mean() <= most + 3 * error


def test_by_class_each_class_is_covered():
    z, _p, y = softmax_rows(6000, 3)
    # The first class is hard: its scores are lower than they should be.
    z[:, 0] -= 1.5
    of_class = {}
    for by in (None, "class"):
        model = ConformalSets(GivenScores().fit(z, y), cv="prefit", by=by)
        sets = model.fit(z[:3000], y[:3000]).predict_set(z[3000:])
        hit = sets[np.arange(3000), y[3000:]]
        of_class[by] = [hit[y[3000:] == k].mean() for k in range(3)]
    assert min(of_class[None]) < 0.85
    for k, share in enumerate(of_class["class"]):
        n = np.sum(y[3000:] == k)
        low, high = stats.binom.interval(0.999, n, 0.9)
        assert low - 0.02 * n <= share * n <= high + 0.02 * n


def test_folds_give_the_scores_of_cross_val_predict():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] / 16, y[:300]
    inner, folds = SoftmaxClassifier(), KFold(3, shuffle=True, random_state=0)
    # A number stands for stratified folds.
    for cv, n_jobs in ((folds, None), (folds, 2), (3, None)):
        z = cross_val_predict(inner, X, y, cv=cv, method="decision_function")
        true = nonconformity("entmax", z, z)[np.arange(300), y]
        expected = np.sort(true)[int(np.ceil(301 * 0.97)) - 1]
        model = ConformalSets(inner, cv=cv, coverage=0.97, n_jobs=n_jobs)
        with parallel_config(backend="threading"):
            model.fit(X, y)
        assert model.quantile_ == pytest.approx(expected, rel=1e-12)
    assert model.accuracy_ == pytest.approx(np.mean(z.argmax(axis=1) == y), abs=1e-15)
    assert_array_equal(model.estimator_.coef_, inner.fit(X, y).coef_)
    z = inner.decision_function(X)
    assert_allclose(model.predict_proba(X), entmax(z / model.temperature_, 1.5))


def test_prefit_does_not_change_the_classifier():
    X, y = IRIS
    inner = SoftmaxClassifier().fit(X[::2], y[::2])
    coef = inner.coef_.copy()
    model = ConformalSets(inner, cv="prefit").fit(X[1::2], y[1::2])
    assert model.estimator_ is inner
    assert_array_equal(inner.coef_, coef)
    # scikit-learn's frozen estimator, with any folds, is the same.
    frozen = ConformalSets(FrozenEstimator(inner)).fit(X[1::2], y[1::2])
    assert frozen.quantile_ == pytest.approx(model.quantile_, rel=1e-9)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        ConformalSets(SoftmaxClassifier(), cv="prefit").fit(X, y)
    with pytest.raises(ValueError, match=r"y must hold classes .* got \[7\]"):
        ConformalSets(inner, cv="prefit").fit(X, np.where(y == 1, 7, y))
    for text in (y.astype(str), y.astype(str).astype(object)):
        with pytest.raises(ValueError, match=r"y must hold classes .* got \['0', '1'"):
            ConformalSets(inner, cv="prefit").fit(X, text)


def test_weights_are_not_routed_to_a_fitted_classifier():
    X, y = IRIS
    with sklearn.config_context(enable_metadata_routing=True):
        inner = SoftmaxClassifier().set_fit_request(sample_weight=True).fit(X, y)
        folds = ConformalSets(inner, cv=KFold(3, shuffle=True, random_state=0))
        weight = np.where(y == 0, 100.0, 1.0)
        weighted = folds.fit(X, y, sample_weight=weight).estimator_
        assert_allclose(weighted.coef_, clone(inner).fit(X, y, weight).coef_, atol=1e-3)
        prefit = ConformalSets(inner, cv="prefit")
        assert prefit.get_metadata_routing().consumes("split", ["groups"]) == set()
        assert prefit.fit(X, y).estimator_ is inner


def test_randomised_only_with_a_random_state():
    _z, p, y = softmax_rows(2000, 6)
    parameters = {"score_function": "adaptive", "never_empty": False, "cv": "prefit"}
    inner = GivenProbabilities().fit(p, y)
    sets, sizes = {}, {}
    for state in (None, 0, 1):
        model = ConformalSets(inner, random_state=state, **parameters)
        sets[state] = model.fit(p[:1000], y[:1000]).predict_set(p)
        assert_array_equal(model.predict_set(p), sets[state])
        again = model.fit(p[:1000], y[:1000])
        assert_array_equal(again.predict_set(p), sets[state])
        hit = sets[state][np.arange(1000, 2000), y[1000:]].mean()
        assert abs(hit - 0.9) < 0.03
        sizes[state] = sets[state].sum()
    assert (sets[0] != sets[1]).any()
    assert sizes[0] < sizes[None]
    # The draws of the calibration rows are not used for the first new rows.
    model = ConformalSets(inner, random_state=0, **parameters).fit(p[:1000], y[:1000])
    assert sets[0][np.arange(1000), y[:1000]].mean() != pytest.approx(0.9, abs=2e-3)


@pytest.mark.parametrize("by", [None, "class"])
def test_adaptive_sets_rule_out_classes_of_probability_zero(by):
    """Their sum is one, as that of the least probable of the others."""
    z, _, _ = softmax_rows(2000, 6)
    p = entmax(z, 1.5)
    rng = np.random.default_rng(0)
    y = (p.cumsum(axis=1) < rng.random(2000)[:, None]).sum(axis=1)
    model = prefit(
        GivenProbabilities(),
        p[:1000],
        y[:1000],
        score_function="adaptive",
        coverage=0.95,
        by=by,
    )
    # The true class is the least probable one in more than 5 % of the rows.
    assert_allclose(model.quantile_, 1)
    sets = model.predict_set(p[1000:])
    assert_array_equal(sets, p[1000:] > 0)
    assert sets.sum(axis=1).mean() < 4
    # With a true class of probability zero in 20 % of the rows, all classes are in.
    y[:200] = np.where(p[:200] == 0, rng.random((200, 6)), -1).argmax(axis=1)
    assert model.fit(p[:1000], y[:1000]).predict_set(p).all()


def test_a_rank_penalty_makes_the_largest_sets_smaller():
    _z, p, y = softmax_rows(4000, 20, spread=1.0)
    inner = GivenProbabilities().fit(p, y)
    parameters = {"score_function": "adaptive", "cv": "prefit"}
    plain = ConformalSets(inner, **parameters).fit(p[:2000], y[:2000])
    penalised = ConformalSets(inner, rank_penalty=0.05, free_ranks=5, **parameters)
    penalised.fit(p[:2000], y[:2000])
    sizes = [m.predict_set(p[2000:]).sum(axis=1) for m in (plain, penalised)]
    assert sizes[1].max() < sizes[0].max()
    hit = penalised.predict_set(p[2000:])[np.arange(2000), y[2000:]].mean()
    assert abs(hit - 0.9) < 0.03


@pytest.mark.parametrize(
    ("estimator", "score_function"),
    [
        (EntmaxClassifier(threshold=0.1), "entmax"),
        (EntmaxClassifier(threshold=0.1), "threshold"),
        (SigmoidClassifier(threshold=0.5), "entmax"),
        (MultiOutputClassifier(LogisticRegression()), "threshold"),
        (RandomForestClassifier(30, random_state=0), "entmax"),
        (KNeighborsClassifier(10), "threshold"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_label_sets_have_the_recall(estimator, score_function):
    X, Y = multilabel(1200)
    inner = clone(estimator).fit(X[:400], Y[:400])
    model = ConformalSets(inner, cv="prefit", score_function=score_function)
    sets = model.fit(X[400:800], Y[400:800]).predict(X[800:])
    assert_array_equal(sets, model.predict_set(X[800:]))
    assert_array_equal(sets, model.predict_proba(X[800:]) > 0)
    recall = (sets * Y[800:]).sum(axis=1) / Y[800:].sum(axis=1)
    error = recall.std() / np.sqrt(400) + recall.std() / np.sqrt(400)
    assert 0.9 - 3 * error <= recall.mean() <= 0.9 + 3 * error + 0.02
    assert_array_equal(model.classes_, np.arange(6))
    with pytest.raises(ValueError, match="'entmax' or 'threshold' for label sets"):
        model.set_params(score_function="adaptive").fit(X, Y)


def test_sparse_sets_are_the_dense_ones():
    z, _, y = softmax_rows(40, 1001)
    y %= 10
    inner = GivenScores()
    inner.classes_ = np.arange(1001)
    for option, is_sparse in (("auto", True), (True, True), (False, False)):
        model = ConformalSets(inner, cv="prefit", sparse_output=option).fit(z, y)
        sets = model.predict_set(z)
        assert sparse.issparse(sets) == is_sparse
        assert model.predict_set(z[:0]).shape == (0, 1001)
    assert_array_equal(
        ConformalSets(inner, cv="prefit").fit(z, y).predict_set(z).toarray(), sets
    )
    X, Y = multilabel(100)
    model = ConformalSets(SoftmaxClassifier(), sparse_output=True)
    dense = clone(model).set_params(sparse_output=False).fit(X, Y).predict(X)
    for truth in (sparse.csr_matrix(Y), sparse.csr_array(Y)):
        sets = model.fit(X, truth).predict(X)
        assert_array_equal(sets.toarray(), dense)


def test_routed_weights_reach_the_fits():
    X, y = IRIS
    weight = 1.0 + np.arange(150) % 3
    expected = ConformalSets(SoftmaxClassifier()).fit(X, y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = SoftmaxClassifier().set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        model = ConformalSets(make_pipeline(scaler, inner))
        model.fit(X, y, sample_weight=weight)
        scaled = StandardScaler().fit_transform(X)
        inner.fit(scaled, y, sample_weight=weight)
        assert_allclose(model.estimator_[-1].coef_, inner.coef_)
        assert_allclose(
            ConformalSets(inner).fit(X, y, sample_weight=weight).quantile_,
            expected.quantile_,
        )
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            ConformalSets(SoftmaxClassifier()).fit(X, y, sample_weight=weight)
    # Arguments of the classifier's fit are split by the folds.
    offset = np.random.default_rng(0).normal(size=(150, 3))
    model = ConformalSets(SoftmaxClassifier()).fit(X, y, offset=offset)
    assert_allclose(
        model.estimator_.coef_, SoftmaxClassifier().fit(X, y, offset=offset).coef_
    )


def test_data_frames_are_sets_by_name():
    X, y = load_iris(return_X_y=True, as_frame=True)
    columns = list(X.columns)
    scaler = make_column_transformer((StandardScaler(), columns[::-1]))
    model = ConformalSets(make_pipeline(scaler, SoftmaxClassifier())).fit(X, y)
    assert_array_equal(model.feature_names_in_, columns)
    assert model.n_features_in_ == 4
    plain = ConformalSets(make_pipeline(StandardScaler(), SoftmaxClassifier()))
    assert_array_equal(
        model.predict_set(X), plain.fit(X.to_numpy(), y).predict_set(X.to_numpy())
    )
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.DataFrame(X.to_numpy(), schema=columns)
    again = clone(model).fit(frame, polars.Series(y.to_numpy()))
    assert_array_equal(again.predict_set(frame), model.predict_set(X))
    assert_array_equal(again.feature_names_in_, columns)


def test_texts_reach_a_pipeline():
    texts = ["red apple", "green pear", "red wine", "green tea"] * 20
    y = ["red", "green"] * 40
    model = ConformalSets(make_pipeline(CountVectorizer(), SoftmaxClassifier()))
    assert_array_equal(model.fit(texts, y).predict(texts), y)
    assert not hasattr(model, "feature_names_in_")


def test_a_row_that_is_left_out_several_times_counts_once():
    """Repeated folds seemed to have more calibration rows than there are."""
    X, y = IRIS
    few = np.r_[0:4, 50:54]
    repeated = RepeatedStratifiedKFold(n_splits=4, n_repeats=5, random_state=0)
    model = ConformalSets(SoftmaxClassifier(), cv=repeated)
    with pytest.raises(ValueError, match=r"at least 9 .* n_samples = 8\."):
        model.fit(X[few], y[few])
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    for score_function in SCORE_FUNCTIONS:
        quantiles = [
            ConformalSets(
                SoftmaxClassifier(), cv=cv, coverage=0.97, score_function=score_function
            )
            .fit(X, y)
            .quantile_
            for cv in (folds, folds * 3)
        ]
        assert quantiles[0] == quantiles[1] > 0


def test_splits_may_be_masks():
    X, y = IRIS
    is_left_out = np.arange(150) % 3 == 0
    models = [
        ConformalSets(
            SoftmaxClassifier(),
            cv=[split],
            coverage=0.97,
            score_function="adaptive",
            random_state=0,
        ).fit(X, y)
        for split in (
            (~is_left_out, is_left_out),
            (np.flatnonzero(~is_left_out), np.flatnonzero(is_left_out)),
        )
    ]
    assert models[0].quantile_ == models[1].quantile_
    assert_array_equal(models[0].predict_set(X), models[1].predict_set(X))


@pytest.mark.parametrize("splits", [[], [(np.arange(150), [])]])
def test_splits_that_leave_out_no_rows(splits):
    with pytest.raises(ValueError, match="cv must have at least one split"):
        ConformalSets(SoftmaxClassifier(), cv=splits).fit(*IRIS)
    with pytest.raises(ValueError, match=r"cv must make pairs .* from 0 to 149"):
        ConformalSets(SoftmaxClassifier(), cv=[([0, 60, 120], [150])]).fit(*IRIS)
    for cv, fact in [
        ([1, 2], "Fold 0 is no pair, but 1"),
        ([np.arange(150)], r"Fold 0 is no pair, but array\(.*149\]\)"),
        ([(1, 2)], "array with 0 axes"),
        (51, "n_splits=51 cannot be greater"),
    ]:
        with pytest.raises(ValueError, match=rf"cv must make pairs .* {fact}"):
            ConformalSets(SoftmaxClassifier(), cv=cv).fit(*IRIS)


def test_more_free_ranks_than_classes():
    _z, p, y = softmax_rows(300, 4)
    given = {"score_function": "adaptive", "rank_penalty": 0.5}
    plain = prefit(GivenProbabilities(), p, y, score_function="adaptive")
    for n in (4, 10**30):
        model = prefit(GivenProbabilities(), p, y, free_ranks=n, **given)
        assert model.quantile_ == plain.quantile_
        assert_array_equal(model.predict_set(p), plain.predict_set(p))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"coverage": 1.0}, "coverage"),
        ({"coverage": 0}, "coverage"),
        ({"coverage": 90}, "Got 90 instead. It is a share"),
        ({"alpha": 1}, "alpha"),
        ({"alpha": 0.1}, r"α of entmax\. An error rate of 0\.1 is coverage=0\.9"),
        ({"score_function": "treshold"}, "Did you mean 'threshold'?"),
        ({"score_function": "lac"}, r"LAC is 'threshold' with never_empty=False\."),
        ({"score_function": "aps"}, r"Got 'aps' instead. APS is 'adaptive'\."),
        ({"by": "label"}, "by"),
        ({"cv": "folds"}, "cv"),
        ({"n_jobs": 0}, r"'n_jobs' parameter .* in the range \[1, inf\).* Got 0"),
        ({"rank_penalty": -1.0}, "rank_penalty"),
        ({"rank_penalty": 0.1}, r"rank_penalty=0\.1 and score_function='entmax'"),
        ({"estimator": StandardScaler()}, "estimator"),
        ({"estimator": EntmaxClassifier}, r"got the class .*Give EntmaxClassifier\(\)"),
    ],
)
def test_parameters_that_are_refused(parameters, message):
    model = ConformalSets(SoftmaxClassifier()).set_params(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(*IRIS)


def test_a_clone_of_a_fitted_classifier_is_refused_with_the_way_out():
    model = ConformalSets(SoftmaxClassifier().fit(*IRIS), cv="prefit")
    with pytest.raises(NotFittedError, match=r"got a SoftmaxClassifier .*FrozenEst"):
        clone(model).fit(*IRIS)


def test_it_is_saved_with_its_estimator():
    X, y = IRIS
    model = ConformalSets(SoftmaxClassifier(), by="class").fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert repr(loaded) == repr(model)
    skops = pytest.importorskip("skops.io", reason="needs the extra skprob[test]")
    data = skops.dumps(model)
    types = skops.get_untrusted_types(data=data)
    assert types == ["skprob.decision.ConformalSets"]
    loaded = skops.loads(data, trusted=types)
    assert_array_equal(loaded.fit(X, y).quantile_, model.quantile_)


def test_it_works_in_searches_and_cross_validation():
    X, y = IRIS
    model = make_pipeline(StandardScaler(), ConformalSets(SoftmaxClassifier()))
    assert cross_val_score(model, X, y).mean() > 0.9


def test_nothing_of_an_earlier_fit_is_left():
    X, y = IRIS
    model = ConformalSets(SoftmaxClassifier()).fit(X, y)
    assert model.temperature_ == pytest.approx(0.5 * model.limit_)
    model.set_params(by="class").fit(X, y)
    assert not hasattr(model, "temperature_")
    assert model.limit_.shape == (3,)
