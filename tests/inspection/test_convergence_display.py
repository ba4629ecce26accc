"""How fits converged, as a drawing."""

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import (
    AMSoftmaxClassifier,
    EntmaxClassifier,
    EntmaxClassifierCV,
    LinearClassifier,
    SoftmaxClassifier,
)
from skprob.inspection import ConvergenceDisplay

matplotlib.use("Agg")
from matplotlib import pyplot as plt

X, Y = load_iris(return_X_y=True)
# With tol=1e-6 the duality gap is zero up to rounding, and has no line.
NEWTON = SoftmaxClassifier(tol=1e-5).fit(X, Y)
LBFGS = SoftmaxClassifier(solver="lbfgs").fit(X, Y)
BY_LABEL = {"Newton": NEWTON, "L-BFGS": LBFGS}
ONE, SEVERAL = ConvergenceDisplay.from_estimator, ConvergenceDisplay.from_estimators


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def texts(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_the_suboptimality_of_each_iteration_but_the_last():
    shown = ONE(NEWTON)
    f = NEWTON.history_["objective"]
    (line,) = shown.lines_
    assert_array_equal(line.get_xdata(), NEWTON.history_["iteration"][:-1])
    assert_allclose(line.get_ydata(), (f[:-1] - f[-1]) / f[-1])
    assert shown.ax_.get_yscale() == "log"
    assert shown.ax_.get_xlabel() == "iteration"
    assert shown.ax_.get_ylabel() == "relative suboptimality"
    name = "SoftmaxClassifier, newton-cholesky"
    assert texts(shown) == [name, f"{name}, duality gap"]


def test_the_duality_gap_is_drawn_where_it_is_known():
    (line,) = ONE(NEWTON).gap_lines_
    assert_array_equal(line.get_xdata(), [NEWTON.n_iter_])
    assert_allclose(line.get_ydata(), [NEWTON.duality_gap_ / NEWTON.objective_])
    # The gap is an upper bound of the suboptimality.
    reference = SoftmaxClassifier(tol=1e-9).fit(X, Y).objective_
    shown = ONE(LBFGS, reference=reference)
    assert shown.gap_lines_[0].get_ydata()[-1] >= shown.lines_[0].get_ydata()[-1]
    # No loss of cosines has one.
    shown = ONE(AMSoftmaxClassifier().fit(X, Y))
    assert len(shown.lines_) == 1 and not shown.gap_lines_


def test_a_reference_is_the_same_for_all():
    reference = NEWTON.objective_ - 0.01
    shown = SEVERAL(BY_LABEL, reference=reference)
    for line, model in zip(shown.lines_, BY_LABEL.values(), strict=True):
        f = model.history_["objective"]
        assert_allclose(line.get_ydata(), (f - reference) / reference)
    assert texts(shown)[::2] == list(BY_LABEL)
    # Each gap has the colour of its line.
    colours = [line.get_color() for line in shown.lines_]
    assert colours == [line.get_color() for line in shown.gap_lines_]
    assert len(set(colours)) == 2


def test_points_below_the_reference_are_left_out():
    reference = float(NEWTON.history_["objective"][2])
    (line,) = ONE(NEWTON, reference=reference).lines_
    assert_array_equal(line.get_xdata(), [0, 1])


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ("iteration", "duality_gap"),
        ("passes", "gradient_norm"),
        ("seconds", "duality_gap"),
    ],
)
def test_other_quantities_are_those_of_the_history(x, y):
    shown = SEVERAL(BY_LABEL, x=x, y=y)
    for line, model in zip(shown.lines_, BY_LABEL.values(), strict=True):
        values = model.history_[y]
        known = np.isfinite(values)
        assert_array_equal(line.get_xdata(), model.history_[x][known])
        assert_array_equal(line.get_ydata(), values[known])
    assert not shown.gap_lines_
    label = "largest gradient entry" if y == "gradient_norm" else "duality gap"
    assert shown.ax_.get_ylabel() == label
    assert x in shown.ax_.get_xlabel()


def test_only_the_last_stage_has_the_objective():
    model = LinearClassifier("softmax", loss="accuracy").fit(X, Y)
    (line,) = ONE(model).lines_
    f = model.history_["objective"]
    first = np.flatnonzero(np.isfinite(f))[0]
    assert 0 < first == line.get_xdata()[0]
    # It is below zero, and the distance to it is not.
    assert model.objective_ < 0 < line.get_ydata().min()
    shown = ONE(model, y="gradient_norm")
    both = [*shown.stage_lines_, *shown.lines_]
    assert [len(line.get_xdata()) for line in both] == [first, len(f) - first]
    assert texts(shown)[1].endswith(", easier loss")


def test_first_steps_under_a_stronger_penalty_are_a_stage():
    X, y = load_digits(return_X_y=True)
    X, l2 = X / 16, 1 / len(y)
    model = SoftmaxClassifier().fit(X, y)
    history, is_final = model.history_, model.history_["stage"] == "final"
    assert set(history["stage"][~is_final]) == {"stronger penalty"}
    n_first = np.count_nonzero(~is_final)
    assert is_final[n_first:].all() and 2 < n_first < len(is_final)
    objectives = []
    for n_iter in range(1, n_first + 1):
        with pytest.warns(ConvergenceWarning):
            early = SoftmaxClassifier(max_iter=n_iter).fit(X, y)
        loss = log_loss(y, early.predict_proba(X))
        objectives.append(loss + l2 / 2 * np.sum(early.coef_**2))
        multiple = 1 if is_final[n_iter] else 10
        value = loss + multiple * l2 / 2 * np.sum(early.coef_**2)
        assert_allclose(history["objective"][n_iter], value, rtol=1e-6)
    # The objective itself rises, and no line does.
    assert np.diff(objectives).max() > 0
    shown = ONE(model)
    (line,), (first,) = shown.lines_, shown.stage_lines_
    for each in line, first:
        assert np.all(np.diff(each.get_ydata()) < 0)
    assert_array_equal(first.get_xdata(), np.arange(n_first))
    assert line.get_xdata()[0] == n_first
    assert first.get_linestyle() == "--" and first.get_color() == line.get_color()
    assert first.get_label().endswith(", stronger penalty")


def test_a_fit_without_an_iteration_has_a_line_without_points():
    with pytest.warns(ConvergenceWarning):
        model = SoftmaxClassifier(max_iter=0).fit(X, Y)
    shown = ONE(model)
    shown.figure_.canvas.draw()
    assert len(shown.lines_[0].get_xdata()) == 0
    assert len(ONE(model, reference=0.1).lines_[0].get_xdata()) == 1


@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(StandardScaler(), EntmaxClassifier()),
        GridSearchCV(EntmaxClassifier(), {"C": [1, 2]}, cv=2),
        GridSearchCV(
            make_pipeline(StandardScaler(), EntmaxClassifier()),
            {"entmaxclassifier__C": [1, 2]},
            cv=2,
        ),
        EntmaxClassifierCV([1, 1.5], [1], cv=2),
    ],
    ids=["pipeline", "search", "search over a pipeline", "own search"],
)
def test_pipelines_and_searches_are_drawn(estimator):
    shown = ONE(estimator.fit(X, Y))
    assert len(shown.lines_[0].get_xdata()) > 1
    assert texts(shown)[0].startswith("EntmaxClassifier")


def test_names_options_and_axes_are_used():
    figure, ax = plt.subplots()
    shown = ONE(NEWTON, name="one", ax=ax, color="black", linewidth=3)
    assert shown.ax_ is ax and shown.figure_ is figure
    assert texts(shown) == ["one", "one, duality gap"]
    assert shown.lines_[0].get_color() == "black"
    assert shown.lines_[0].get_linewidth() == 3
    ONE(LBFGS, name="other", ax=ax)
    assert len(ax.lines) == 4 and plt.get_fignums() == [1]
    other = plt.figure().add_subplot()
    assert shown.plot(other, y="gradient_norm") is shown and shown.ax_ is other
    assert len(shown.lines_) == len(other.lines) == 1


def test_bad_input_is_refused():
    for make, message in [
        (lambda: ONE(NEWTON, y="loss"), r"y must be one of \['objective', .* 'loss'"),
        (lambda: ONE(NEWTON, x="time"), r"x must be one of \['iteration', .* 'time'"),
        (lambda: ONE(NEWTON, x=["seconds"]), "x must be one of"),
        (lambda: ONE(NEWTON, reference="best"), "reference must be a finite number"),
        (lambda: ONE(NEWTON, reference=np.nan), "reference must be .* got nan"),
        (lambda: ONE(SoftmaxClassifier()), r"SoftmaxClassifier\(\) has no history_"),
        (lambda: ONE(LogisticRegression(C=2)), "classifier of skprob"),
        (lambda: SEVERAL(NEWTON), "estimators must be a sequence"),
        (lambda: SEVERAL(3), "estimators must be a sequence"),
        (lambda: SEVERAL([]), "at least one classifier"),
        (lambda: SEVERAL([NEWTON, NEWTON]), "same class and solver: give a dict"),
    ]:
        with pytest.raises(ValueError, match=message):
            make()
    assert not plt.get_fignums()


@pytest.mark.parametrize("max_iter", [1, 2, 3])
def test_ticks_of_iterations_are_integers(max_iter):
    X, y = load_iris(return_X_y=True)
    with pytest.warns(match="did not converge"):
        model = EntmaxClassifier(max_iter=max_iter, tol=1e-12).fit(X, y)
    shown = ConvergenceDisplay.from_estimator(model, x="iteration")
    ticks = shown.ax_.get_xticks()
    np.testing.assert_array_equal(ticks, np.round(ticks))
