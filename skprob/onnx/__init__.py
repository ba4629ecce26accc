"""Conversion of fitted classifiers and of mappings to ONNX (the extra skprob[onnx])."""

# skl2onnx calls these functions through methods of the classifiers.
from ._classifier import convert as convert
from ._classifier import parser as parser
from ._classifier import set_shapes as set_shapes
from ._function import mapping_to_onnx
from ._mappings import register_mapping

__all__ = ["mapping_to_onnx", "register_mapping"]
