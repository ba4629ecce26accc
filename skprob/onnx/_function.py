"""A mapping alone as an ONNX model: from scores to probabilities."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np

from .._utils.checks import is_integer
from ..mappings import MappingLike, get_mapping
from ._graph import Graph
from ._mappings import probabilities

# The converters use operators of this version, and of no newer one.
_OPSET = 18
_INPUT, _OUTPUT = "scores", "probabilities"


def mapping_to_onnx(
    mapping: MappingLike, n_classes: int, *, dtype: Any = np.float32
) -> Any:
    """Convert a mapping to an ONNX model, without a classifier.

    The model can be the last step of a neural network: ``onnx.compose.merge_models``
    joins two models of the same opset, here 18, and the same ``ir_version``.

    Parameters
    ----------
    mapping : Mapping or str
        Has a converter, as all registered mappings but perturb-max; its name also
        stands for it.
    n_classes : int
        Number of scores of a row.
    dtype : {float32, float64}, default=float32
        Type of the scores and of the probabilities. The model computes in float64.

    Returns
    -------
    model : onnx.ModelProto
        From the input "scores" to the output "probabilities", both of shape (n_samples,
        n_classes). A row with NaN or an infinity has NaN as all probabilities.

    Raises
    ------
    NotImplementedError
        If the mapping has no converter, as perturb-max and plain functions: see
        :func:`register_mapping`.
    ValueError
        If an argument is not allowed.

    See Also
    --------
    register_mapping : A converter for a mapping of your own.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from skprob.mappings import entmax
    >>> from skprob.onnx import mapping_to_onnx
    >>> model = mapping_to_onnx("entmax", n_classes=3)
    >>> session = onnxruntime.InferenceSession(model.SerializeToString())
    >>> scores = np.array([[1.0, 0.6, -1.0]], dtype=np.float32)
    >>> session.run(None, {"scores": scores})[0].round(3)
    array([[0.64, 0.36, 0.  ]], dtype=float32)
    >>> entmax(scores).round(3)
    array([[0.64, 0.36, 0.  ]], dtype=float32)
    """
    from onnx import checker, helper

    mapping = get_mapping(mapping)
    if not is_integer(n_classes) or n_classes < 1:
        raise ValueError(f"n_classes must be an integer, 1 or more; got {n_classes!r}.")
    if not _is_float(dtype):
        raise ValueError(f"dtype must be float32 or float64; got {dtype!r}.")
    mapping._validate_params()
    nodes = _Nodes()
    graph = Graph(nodes, nodes)
    # A row is added, so that no operator gets an array without rows.
    scores = graph.input(SimpleNamespace(full_name=_INPUT)).with_row(n_classes)
    is_finite = (scores * 0).sum() >= 0
    p = probabilities(mapping, scores.where(is_finite), int(n_classes))
    p = p.where(is_finite, np.nan).without_row().astype(np.dtype(dtype).type)
    graph.output(p, SimpleNamespace(full_name=_OUTPUT))
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    ends = (
        [helper.make_tensor_value_info(name, kind, ["n_samples", int(n_classes)])]
        for name in (_INPUT, _OUTPUT)
    )
    model = helper.make_model(
        helper.make_graph(nodes.nodes, "mapping", *ends, nodes.constants),
        opset_imports=[helper.make_opsetid("", _OPSET)],
        producer_name="skprob",
        # The oldest that has this opset.
        ir_version=8,
    )
    checker.check_model(model, full_check=True)
    return model


def _is_float(dtype):
    """Whether it is one of the two types of numbers that a model has."""
    try:
        return np.dtype(dtype) in (np.float32, np.float64)
    except TypeError:
        return False


class _Nodes:
    """Nodes and constants, by the methods of skl2onnx that :class:`Graph` uses."""

    def __init__(self):
        self.nodes, self.constants = [], []
        self._n_uses = Counter()

    def get_unique_variable_name(self, name):
        self._n_uses[name] += 1
        return f"{name}_{self._n_uses[name]}"

    get_unique_operator_name = get_unique_variable_name

    def add_initializer(self, name, kind, shape, content):
        from onnx import helper

        self.constants.append(helper.make_tensor(name, kind, shape, content))

    def add_node(self, operator, inputs, outputs, *, name, **attributes):
        from onnx import helper

        self.nodes.append(
            helper.make_node(operator, inputs, outputs, name=name, **attributes)
        )
