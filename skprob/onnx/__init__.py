"""Conversion of fitted classifiers and of mappings to ONNX (the extra skprob[onnx]).

Read `_classifier.py` first, which writes the nodes of a classifier through skl2onnx, or
`_function.py`, which makes a model of a mapping alone. `_graph.py` has tensors with the
operators of NumPy arrays. In these, `_mappings.py` has a converter for each mapping,
with entmax in `_entmax.py`, and `_decision.py` one for each rule of label sets.
"""

# skl2onnx calls these functions through methods of the classifiers.
from ._classifier import convert as convert
from ._classifier import parser as parser
from ._classifier import register_classifier
from ._classifier import set_shapes as set_shapes
from ._function import mapping_to_onnx
from ._mappings import register_mapping

__all__ = ["mapping_to_onnx", "register_classifier", "register_mapping"]
