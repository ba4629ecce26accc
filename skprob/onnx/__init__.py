"""Conversion of fitted classifiers to ONNX, by skl2onnx (the extra skprob[onnx])."""

# skl2onnx calls these functions through methods of the classifiers.
from ._classifier import convert as convert
from ._classifier import parser as parser
from ._classifier import set_shapes as set_shapes
from ._mappings import register_mapping

__all__ = ["register_mapping"]
