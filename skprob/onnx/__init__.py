"""Conversion of fitted classifiers to ONNX, by skl2onnx (the extra skprob[onnx])."""

from ._classifier import convert, parser, set_shapes
from ._mappings import register_mapping

__all__ = ["convert", "parser", "register_mapping", "set_shapes"]
