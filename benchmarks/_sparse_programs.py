"""Programs that fit few coefficients, each in its own process.

``python _sparse_programs.py NAME`` reads lines of JSON: the path of a problem, a goal
and seconds. It fits the problem at ever tighter settings of the program, up to one at
which the objective is at most the goal, and writes a line of JSON for each fit: the
setting, the process time of the call, the value of the objective. An empty line is the
end. Quick fits are repeated, and the median of the times counts. No fit begins that is
expected to take more than the seconds, or once four times as many are over.
"""

import json
import sys
import time
import warnings
from functools import partial
from statistics import median

import numpy as np
from _sparse_objective import load
from scipy import sparse

# A fit is repeated if it takes at most this number of seconds.
QUICK, REPEATS = 1.0, 5
TOLERANCES = [10.0**-e for e in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12)]


def main():
    (name,) = sys.argv[1:]
    for line in sys.stdin:
        path, goal, seconds = json.loads(line)
        problem = load(path)
        settings, fit = PROGRAMS[name](problem)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for result in fits(problem, settings, fit, goal, seconds, name == "saga"):
                print(json.dumps(result), flush=True)
        print(flush=True)


def fits(problem, settings, fit, goal, seconds, doubles):
    """Results at one setting after the other."""
    started, expected = time.process_time(), 0.0
    for setting in settings:
        if expected > seconds or time.process_time() - started > 4 * seconds:
            break
        times, (coef, intercept) = timed(fit, setting)
        value = problem.value(coef, intercept)
        if value <= goal and times[0] <= QUICK:
            for _ in range(REPEATS - 1):
                times += timed(fit, setting)[0]
        expected = (1 + doubles) * times[0]
        yield {
            "setting": setting,
            "seconds": median(times),
            "value": value,
            "subgradient": problem.smallest_subgradient(coef, intercept),
            "n_coefficients": int(np.count_nonzero(coef)),
        }
        if value <= goal:
            break


def timed(fit, setting):
    """Process time of a fit, in a list, and its coefficients and intercepts."""
    started = time.process_time()
    coef, intercept = fit(setting)
    return [time.process_time() - started], (coef, intercept)


def skprob(problem):
    from skprob import SoftmaxClassifier

    def fit(tol, X=problem.X, y=problem.y):
        model = SoftmaxClassifier(
            C=problem.C,
            l1_ratio=problem.l1_ratio,
            select="features" if problem.by_feature else "coefficients",
            fit_intercept=problem.fit_intercept,
            tol=tol,
            max_iter=10_000,
        ).fit(X, y)
        return model.coef_, model.intercept_

    fit(1.0, problem.X[:100], np.arange(100) % (int(problem.y.max()) + 1))
    return TOLERANCES, fit


def saga(problem):
    return [2**e for e in range(20)], logistic_regression(problem, "saga")


def liblinear(problem):
    return TOLERANCES, logistic_regression(problem, "liblinear")


def logistic_regression(problem, solver):
    from sklearn.linear_model import LogisticRegression

    def fit(setting):
        # saga stops after this number of passes, which have the same cost each.
        if solver == "saga":
            when = {"max_iter": setting, "tol": 0.0}
        else:
            when = {"max_iter": 10_000_000, "tol": setting}
        model = LogisticRegression(
            C=problem.C,
            l1_ratio=problem.l1_ratio,
            fit_intercept=problem.fit_intercept,
            solver=solver,
            random_state=0,
            **when,
        ).fit(problem.X, problem.y)
        return model.coef_, model.intercept_

    return fit


def adelie(problem, by_path=False):
    import adelie

    d = problem.X.shape[1]
    # Its loss of K classes is divided by K.
    if problem.n_outputs == 1:
        family, strength = (
            adelie.glm.binomial(problem.y.astype(float)),
            problem.strength,
        )
    else:
        family = adelie.glm.multinomial(np.eye(problem.n_outputs)[problem.y])
        strength = problem.strength / problem.n_outputs
    if sparse.issparse(problem.X):
        X = adelie.matrix.sparse(sparse.csc_matrix(problem.X), method="naive")
    else:
        X = np.asfortranarray(problem.X)
    first = problem.C / problem.smallest_C()
    path = strength * np.geomspace(first, 1, 1 + int(np.ceil(4 * np.log(first))))

    def fit(tol):
        model = adelie.grpnet(
            X,
            family,
            alpha=problem.l1_ratio,
            penalty=np.ones(d),
            lmda_path=path if by_path else [strength],
            intercept=problem.fit_intercept,
            tol=tol,
            irls_tol=tol,
            early_exit=False,
            progress_bar=False,
        )
        coef = model.betas[-1].toarray().reshape(d, -1).T
        intercept = np.atleast_1d(np.asarray(model.intercepts)[-1])
        return coef, intercept

    return TOLERANCES[2:], fit


def skglm(problem):
    from skglm import SparseLogisticRegression

    X, y = problem.X, np.where(problem.y == 1, 1, -1)
    X = sparse.csc_matrix(X) if sparse.issparse(X) else np.asfortranarray(X)

    def fit(tol, X=X, y=y):
        model = SparseLogisticRegression(
            alpha=problem.strength,
            tol=tol,
            max_iter=1000,
            max_epochs=10_000,
            fit_intercept=problem.fit_intercept,
        ).fit(X, y)
        return model.coef_.reshape(1, -1), np.atleast_1d(model.intercept_)

    start = X[:100] if sparse.issparse(X) else np.asfortranarray(X[:100])
    fit(1.0, start, np.where(np.arange(100) % 2, 1, -1))  # Compiles.
    return TOLERANCES, fit


PROGRAMS = {
    "skprob": skprob,
    "saga": saga,
    "liblinear": liblinear,
    "adelie": adelie,
    "adelie by a path": partial(adelie, by_path=True),
    "skglm": skglm,
}


if __name__ == "__main__":
    main()
