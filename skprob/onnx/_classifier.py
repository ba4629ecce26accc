"""A fitted linear classifier as nodes of a graph, through skl2onnx."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._utils.arrays import dense, to_numpy
from .._utils.checks import series_in_order
from ..decision import LeastCost
from ..mappings import Softmax
from ._decision import label_sets
from ._graph import Graph
from ._labels import label_type
from ._mappings import probabilities

_LEAST_OPSET = 18
# Entries of the label set of a row with NaN or infinity.
_NO_SET = -1


def parser(model):
    """The function that declares the outputs of a model to skl2onnx.

    Parameters
    ----------
    model : estimator
        A fitted linear classifier.

    Returns
    -------
    parser : callable
        ``parser(scope=..., inputs=...)`` returns the outputs: labels and probabilities.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    """
    _register(type(model))

    def parse(scope=None, inputs=None):
        return _outputs(scope, model, inputs)

    return parse


def set_shapes(operator):
    """Set the shapes of the outputs of an operator (skl2onnx's shape calculator)."""
    model, (labels, output) = operator.raw_operator, operator.outputs
    n_rows, n_classes = operator.inputs[0].type.shape[:1], model.classes_.shape[0]
    is_set = model.target_type_ == "label_set"
    labels.type.shape = [*n_rows, n_classes] if is_set else n_rows
    output.type.shape = [*n_rows, n_classes]


def convert(scope, operator, container):
    """Write the nodes of an operator (skl2onnx's converter).

    The computation is in float64, so labels and supports are those of the model. Only
    the result is rounded to the type of the probabilities. With a mapping that has
    zeros a positive probability stays positive.

    A row is added for the computation and removed at the end, so that no operator gets
    an array without rows. Before onnxruntime 1.32 TopK ends the process for such an
    array, and sums of rows have a wrong shape.
    """
    model, (labels, output) = operator.raw_operator, operator.outputs
    if container.target_opset < _LEAST_OPSET:
        raise ValueError(
            f"target_opset must be {_LEAST_OPSET} or newer for {type(model).__name__}; "
            f"got {container.target_opset}."
        )
    graph = Graph(scope, container)
    X = _features(graph, operator.inputs, model)
    n_classes = model.classes_.shape[0]
    # Rows without a label may be one more class.
    n_scores = n_classes + model.has_none_class_
    scores = _scores(X, model, n_scores).with_row(n_scores)
    # False where a row has NaN or infinity. Such a row is computed as zeros and gets
    # NaN at the end: GatherElements fails on NaN, and ArgMax returns the first class.
    is_finite = (scores * 0).sum() >= 0
    scores = scores.where(is_finite)
    p = probabilities(model.mapping_, scores, n_scores)
    if n_scores > n_classes:
        p = p.columns(range(n_classes))
    # None for a class that is not in the table of skl2onnx.
    options = container.get_options(model, {"raw_scores": False}, fail=False)
    takes_scores = options is not None and options["raw_scores"]
    raw_scores = _decision(model, scores, p) if takes_scores else None
    if model.target_type_ == "class" and model.mapping_.traits.polytope == "cube":
        p = _shares(p, model.mapping_, scores, n_classes)
    if model.target_type_ == "label_set":
        predicted = _label_sets(model, p, X, is_finite)
    elif isinstance(getattr(model, "threshold_", None), LeastCost):
        predicted = _labels_of_least_cost(graph, model, p, is_finite)
    else:
        ranked = scores if model.mapping_.traits.is_order_preserving else p
        chosen = ranked.argmax().where(is_finite, n_classes).without_axis()
        predicted = graph.node("Gather", _class_names(graph, model), chosen)
    if model.mapping_.traits.has_zeros and _dtype(output) == np.float32:
        # A probability below the range of float32 would leave the support.
        p = p.maximum(float(np.finfo(np.float32).tiny)).where(p > 0)
    p = (p if raw_scores is None else raw_scores).where(is_finite, np.nan)
    graph.output(predicted.without_row(), labels)
    graph.output(p.without_row().astype(_dtype(output)), output)


def _class_names(graph, model, *others):
    """Names of the classes, others, and the label of a row with NaN or infinity."""
    names = to_numpy(model.classes_)
    kind = label_type(names)
    return graph.constant([*names.tolist(), *others, kind.missing], kind.dtype)


def _label_sets(model, p, X, is_finite):
    """The label sets by the threshold of the model."""
    if getattr(model.threshold_, "uses_features", False):
        X = X.with_row(model.n_features_in_).where(is_finite)
    threshold = series_in_order("threshold", model.threshold_, model.classes_)
    return label_sets(threshold, p, X).where(is_finite, _NO_SET)


def _labels_of_least_cost(graph, model, p, is_finite):
    """The labels of least expected cost."""
    classes, others = to_numpy(model.classes_), []
    rule, n_classes = model.threshold_.for_classes(classes), len(classes)
    savings = p @ -rule.costs
    chosen = savings.argmax()
    if rule.abstain is not None:
        label = rule.label_of_abstention(classes)
        if not isinstance(label, label_type(classes).python_type):
            raise NotImplementedError(
                "abstain_label must be of the type of the classes, whose array has one "
                f"type in ONNX; got {label!r}. State another label."
            )
        others = [label]
        chosen = chosen.where(savings.max() >= -rule.abstain, n_classes)
    chosen = chosen.where(is_finite, n_classes + len(others)).without_axis()
    return graph.node("Gather", _class_names(graph, model, *others), chosen)


def _features(graph, inputs, model):
    X, *others = [graph.input(variable) for variable in inputs]
    if others:
        X = X.stacked(*others)
    widths = [variable.type.shape[1] for variable in inputs]
    if None not in widths and sum(widths) != model.n_features_in_:
        raise ValueError(
            f"X must have {model.n_features_in_} features, as in fit; the initial "
            f"types have {sum(widths)}."
        )
    return X


def _scores(X, model, n_scores):
    coef = _float64(dense(model.coef_))
    intercept = _float64(model.intercept_)
    if hasattr(model, "feature_mean_"):
        X = (X - _float64(model.feature_mean_)) / _float64(model.feature_scale_)
        if model.constant_:
            # A constant feature, whose coefficients are the intercepts.
            X = X.stacked(X.columns([0]) * 0 + model.constant_)
            coef = np.column_stack([coef, intercept])
        intercept = np.zeros_like(intercept)
    if model.similarity_ == "cosine":
        # Divide by the largest entry first: squares of tiny numbers underflow.
        largest = X.abs().max()
        X = X / largest.where(largest > 0, 1)
        norm = (X * X).sum().sqrt()
        X = X / norm.where(norm > 0, 1)
    scores = X @ coef.T + intercept
    if len(coef) < n_scores:
        # Two classes share one row: their scores are -u/2 and u/2.
        half = scores * 0.5
        scores = (-half).stacked(half)
    return scores


def _decision(model, scores, p):
    """The result of ``decision_function``, minus and plus it for two classes."""
    n_classes = model.classes_.shape[0]
    if model.target_type_ != "class" or n_classes > 2:
        return scores.columns(range(n_classes))
    pair = scores if model.mapping_.traits.is_order_preserving else p
    difference = pair.columns([1]) - pair.columns([0])
    return (-difference).stacked(difference)


def _shares(p, mapping, scores, n_classes):
    """Marginals divided by their sum; if all are zero, entmax of the scores."""
    total = p.sum()
    others = probabilities(mapping.pair_mapping or Softmax(), scores, n_classes)
    return (p / total.where(total > 0, 1)).where(total > 0, others)


def _float64(array):
    """A fitted attribute, which may be another library's array."""
    return np.asarray(to_numpy(array), np.float64)


def _outputs(scope, model, inputs):
    from skl2onnx.common import data_types

    check_is_fitted(model)
    if model.target_type_ == "label_set":
        name = "Int64TensorType"
    else:
        name = label_type(to_numpy(model.classes_)).tensor
    labels = getattr(data_types, name)()
    probabilities = data_types.guess_tensor_type(inputs[0].type)
    return [
        scope.declare_local_variable("label", labels),
        scope.declare_local_variable("probabilities", probabilities),
    ]


def _dtype(variable):
    from skl2onnx.common.data_types import DoubleTensorType

    return np.float64 if isinstance(variable.type, DoubleTensorType) else np.float32


def register_classifier(classifier: type) -> None:
    """Register a class of linear classifiers, so that ensembles of them convert.

    A classifier converts without it, also in a pipeline or after a search. Estimators
    of scikit-learn that have fitted clones of a classifier, such as
    ``StackingClassifier``, ``CalibratedClassifierCV`` and ``OneVsRestClassifier``, look
    for its class in the table of skl2onnx.

    Parameters
    ----------
    classifier : type
        A class, such as :class:`~skprob.linear_model.SoftmaxClassifier`.

    Raises
    ------
    TypeError
        If `classifier` is not a class of linear classifiers of skprob.

    See Also
    --------
    register_mapping : Register a converter of a mapping.

    Examples
    --------
    >>> import numpy as np
    >>> import skl2onnx
    >>> from sklearn.calibration import CalibratedClassifierCV
    >>> from sklearn.datasets import load_iris
    >>> from skprob import SparsemaxClassifier
    >>> from skprob.onnx import register_classifier
    >>> register_classifier(SparsemaxClassifier)
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CalibratedClassifierCV(SparsemaxClassifier()).fit(X, y)
    >>> graph = skl2onnx.to_onnx(model, X[:1], options={"zipmap": False})
    """
    is_class = isinstance(classifier, type)
    if not is_class or not hasattr(classifier, "onnx_converter"):
        raise TypeError(
            "classifier must be a class of linear classifiers of skprob; got "
            f"{classifier!r}."
        )
    _register(classifier)


def _register(cls):
    """Add a class to the table of skl2onnx, which searches and pipelines use."""
    from skl2onnx import update_registered_converter

    alias = f"Skprob{cls.__name__}"

    def parse(scope, model, inputs, custom_parsers=None):
        operator = scope.declare_local_operator(alias, model)
        operator.inputs = inputs
        operator.outputs.extend(_outputs(scope, model, inputs))
        return operator.outputs

    # Probabilities are always an array. The option zipmap is allowed because a pipeline
    # sets it.
    options = {"zipmap": [False, True], "raw_scores": [False, True]}
    update_registered_converter(
        cls, alias, set_shapes, convert, parser=parse, options=options
    )
