"""Conversion of a fitted classifier to ONNX: the methods that skl2onnx looks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class OnnxConvertible:
    """A classifier that ``skl2onnx.to_onnx`` can convert after ``fit``."""

    def onnx_parser(self) -> Callable[..., Any]:
        """Function that declares the outputs, for skl2onnx."""
        from ...onnx import parser

        return parser(self)

    def onnx_shape_calculator(self) -> Callable[..., Any]:
        """Function that sets the shapes of the outputs, for skl2onnx."""
        from ...onnx import set_shapes

        return set_shapes

    def onnx_converter(self) -> Callable[..., Any]:
        """Function that writes the nodes of the graph, for skl2onnx."""
        from ...onnx import convert

        return convert
