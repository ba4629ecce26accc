"""Names of parameters: the nearest right one in errors, and further names."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris

from skprob import (
    AMSoftmaxClassifier,
    EntmaxClassifier,
    EntmaxClassifierCV,
    LinearClassifier,
    PerturbMaxClassifier,
    PerturbMaxClassifierCV,
    SoftmaxClassifier,
    SparseSoftmaxClassifier,
)
from skprob._utils.names import did_you_mean
from skprob.attention import AttentionClassifier, attention
from skprob.decision import ConformalSets, LabelCuts, LeastCost, TopK, get_rule
from skprob.inspection import ConvergenceDisplay, PredictionDisplay, coefficient_table
from skprob.losses import LogLoss, get_loss
from skprob.mappings import entmax, get_mapping, perturb_max, sparse_softmax
from skprob.metrics import DistributionScorer, brier_loss

X, Y = load_iris(return_X_y=True)
SETS = np.eye(3, dtype=int)[Y]
FITTED = SoftmaxClassifier().fit(X, Y)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: LinearClassifier("sparse_max").fit(X, Y), "sparsemax"),
        (lambda: LinearClassifier("Entmax").fit(X, Y), "entmax"),
        (lambda: LinearClassifier(loss="crossentropy").fit(X, Y), "cross_entropy"),
        (lambda: EntmaxClassifier(loss="Fenchel-Young").fit(X, Y), "fenchel_young"),
        (lambda: SoftmaxClassifier(similarity="cos").fit(X, Y), "cosine"),
        (lambda: SoftmaxClassifier(solver="newton_cg").fit(X, Y), "newton-cg"),
        (lambda: SoftmaxClassifier(solver="cholesky").fit(X, Y), "newton-cholesky"),
        (lambda: SoftmaxClassifier(C="automatic").fit(X, Y), "auto"),
        (lambda: SoftmaxClassifier(class_weight="balance").fit(X, Y), "balanced"),
        (lambda: SoftmaxClassifier(target_type="labelset").fit(X, Y), "label_set"),
        (lambda: SoftmaxClassifier(threshold="cuts").fit(X, SETS), "label_cuts"),
        (lambda: SoftmaxClassifier(threshold="example f1").fit(X, SETS), "example_f1"),
        (lambda: EntmaxClassifierCV(scoring="f1micro").fit(X, Y), "f1_micro"),
        (lambda: PerturbMaxClassifierCV(["normla"]).fit(X, Y), "normal"),
        (lambda: PerturbMaxClassifierCV(loss="logg").fit(X, Y), "log"),
        (lambda: PerturbMaxClassifier("student-t").fit(X, Y), "student_t"),
        (lambda: AMSoftmaxClassifier(standardize="Auto").fit(X, Y), "auto"),
        (lambda: SparseSoftmaxClassifier(outside="fully").fit(X, Y), "full"),
        (lambda: AttentionClassifier(similarity="distances").fit(X, Y), "distance"),
        (lambda: AttentionClassifier("entmaxx").fit(X, Y), "entmax"),
        (lambda: LabelCuts("macr").fit(SETS * 0.5 + 1 / 6, SETS), "macro"),
        (lambda: SoftmaxClassifier().fit(X, SETS).set_threshold("supports"), "support"),
        (lambda: LabelCuts().fit(SETS * 1.0, SETS, polytope="qube"), "cube"),
        (lambda: get_mapping("entmax15"), "entmax"),
        (lambda: get_loss("logloss", "softmax"), "log"),
        (lambda: get_rule("common"), "common_cut"),
        (lambda: perturb_max(X, "gumble"), "gumbel"),
        (lambda: sparse_softmax(X, k="Auto"), "auto"),
        (lambda: attention(X, X, X, scale="sqr"), "sqrt"),
        (lambda: brier_loss(Y, SETS, target_type="classes"), "class"),
        (lambda: DistributionScorer("clarke")(FITTED, X, SETS), "clark"),
        (lambda: coefficient_table(FITTED, X, Y, covariance="sandwhich"), "sandwich"),
        (lambda: coefficient_table(FITTED, X, Y, reference="means"), "mean"),
        (
            lambda: ConvergenceDisplay.from_estimator(FITTED, y="objectiv"),
            "objective",
        ),
        (
            lambda: PredictionDisplay.from_predictions([0.5, 0.5], polytope="cubes"),
            "cube",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:The penalty")
def test_a_wrong_name_gets_the_nearest_right_one(call, name):
    with pytest.raises(ValueError, match=rf"Did you mean '{name}'\?$"):
        call()


def test_what_no_name_is_near_to():
    assert did_you_mean("xyz", ["softmax", "sparsemax"]) == ""
    assert did_you_mean(3.0, ["softmax"]) == did_you_mean(None, ["softmax"]) == ""
    for model in (LinearClassifier(loss=3), LinearClassifier(loss="xyz")):
        with pytest.raises(ValueError, match="The 'loss' parameter") as caught:
            model.fit(X, Y)
        assert "Did you mean" not in str(caught.value)
    with pytest.raises(ValueError, match="alpha"):
        entmax(X, "1.5")


def test_cross_entropy_is_the_log_loss():
    assert isinstance(get_loss("cross_entropy", "softmax"), LogLoss)
    for mapping in ("taylor_softmax", "softmax"):
        log, named = (
            LinearClassifier(mapping, loss).fit(X, Y)
            for loss in ("log", "cross_entropy")
        )
        assert_array_equal(log.coef_, named.coef_)
    learnt = PerturbMaxClassifier(
        "student_t", learn_noise=True, loss="cross_entropy", max_iter=3
    )
    with pytest.warns(match="did not converge"):
        learnt.fit(X, Y)
    search = PerturbMaxClassifierCV(["gumbel"], [1.0], cv=2, loss="cross_entropy")
    assert isinstance(search.fit(X, Y).loss_, LogLoss)


@pytest.mark.parametrize("model", [SoftmaxClassifier(), EntmaxClassifier(2.5)])
def test_solver_takes_the_name_that_solver_reports(model):
    auto = model.set_params(tol=1e-8).fit(X, Y)
    coef, objective = auto.coef_, auto.objective_
    model.set_params(solver="newton-cholesky").fit(X, Y)
    assert model.solver_.startswith("newton-cholesky")
    np.testing.assert_allclose(model.coef_, coef, atol=1e-4)
    assert model.objective_ == pytest.approx(objective, rel=1e-8)


def test_where_the_hessian_cannot_be_written_out():
    for model in (
        LinearClassifier("taylor_softmax"),
        LinearClassifier(similarity="cosine"),
        SparseSoftmaxClassifier(),
    ):
        model.set_params(solver="newton-cholesky")
        with pytest.raises(ValueError, match="needs a convex loss of linear scores"):
            model.fit(X, Y)
        assert not hasattr(model, "coef_")
    wide = np.random.default_rng(0).normal(size=(6, 5000))
    model, y = SoftmaxClassifier(solver="newton-cholesky"), np.arange(6) % 3
    # With a penalty these rows are fitted in coordinates, which are few.
    for rows in wide, sparse.csr_array(wide):
        assert model.fit(rows, y).solver_ == "newton-cholesky"
    model.set_params(C=np.inf)
    with pytest.raises(ValueError, match=r"at most 10,000 parameters.* got 15,003"):
        model.fit(wide, y)


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        *((word, "LAC is 'threshold'") for word in ("lac", "LAC", "Lac")),
        *((word, "APS is 'adaptive'") for word in ("aps", "APS")),
        ("RAPS", "RAPS is 'adaptive' with a rank_penalty"),
        ("Threshold", "Did you mean 'threshold'"),
    ],
)
def test_score_functions_of_other_packages(word, advice):
    with pytest.raises(ValueError, match=f"Got '{word}' instead. {advice}"):
        ConformalSets(FITTED, score_function=word).fit(X, Y)


@pytest.mark.parametrize(
    ("cls", "arguments", "name", "advice"),
    [
        (ConformalSets, (FITTED,), "score", "It is 'score_function' here."),
        (ConformalSets, (FITTED,), "Conformity_Score", "It is 'score_function' here."),
        (ConformalSets, (FITTED,), "confidence_level", "It is 'coverage' here."),
        (ConformalSets, (FITTED,), "coverages", "Did you mean 'coverage'?"),
        (LabelCuts, (), "shrinkages", "Did you mean 'shrinkage'?"),
        (LeastCost, (np.eye(3),), "abstention", "Did you mean 'abstain'?"),
        (TopK, (3,), "n", ""),
        (AttentionClassifier, (), "neighbors", "Did you mean 'n_neighbors'?"),
    ],
)
def test_unknown_parameters(cls, arguments, name, advice):
    advice = f" {advice}" if advice else ""
    with pytest.raises(TypeError) as caught:
        cls(*arguments, **{name: 0.1})
    unexpected = f"{cls.__name__}.__init__() got an unexpected keyword argument"
    assert str(caught.value) == f"{unexpected} {name!r}.{advice}"
    with pytest.raises(ValueError, match=f"Invalid parameter '{name}'") as caught:
        cls(*arguments).set_params(**{name: 0.1})
    assert str(caught.value).endswith(f"].{advice}")
