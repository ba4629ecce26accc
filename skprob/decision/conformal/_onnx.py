"""Conversion of calibrated sets to ONNX: the methods that skl2onnx looks for."""

from __future__ import annotations

from copy import copy
from typing import Any

from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ...mappings import Entmax, Temperature


def _converts_to_onnx(self):
    """Whether the calibrated model is a linear classifier with another mapping."""
    state = vars(self)
    model = state.get("estimator_", self.estimator)
    # After a fit the parameters of the fit count.
    score_function = state.get("_fitted_with", state)["score_function"]
    return score_function == "entmax" and hasattr(model, "onnx_parser")


class OnnxSets:
    """Sets by entmax of a linear classifier, which ONNX has as a temperature."""

    @available_if(_converts_to_onnx)
    def onnx_parser(self) -> Any:
        """Function that declares the outputs, for skl2onnx ("entmax" only)."""
        return self._calibrated().onnx_parser()

    @available_if(_converts_to_onnx)
    def onnx_shape_calculator(self) -> Any:
        """Function that gives the outputs their shapes, for skl2onnx."""
        return self._for_onnx("onnx_shape_calculator")

    @available_if(_converts_to_onnx)
    def onnx_converter(self) -> Any:
        """Function that writes the nodes of the graph, for skl2onnx."""
        return self._for_onnx("onnx_converter")

    def _for_onnx(self, method):
        def converted(*arguments):
            model = self._calibrated()
            for argument in arguments:
                if getattr(argument, "raw_operator", None) is self:
                    argument.raw_operator = model
            return getattr(model, method)()(*arguments)

        return converted

    def _calibrated(self):
        """The linear classifier with entmax at the calibrated temperature."""
        check_is_fitted(self)
        if not hasattr(self, "temperature_"):
            raise NotImplementedError(
                "ONNX has the sets by 'entmax' with by=None, which are a temperature; "
                "got by='class'."
            )
        if self._needed:
            raise NotImplementedError(
                f"Sets that were calibrated with {self._needed} have no ONNX "
                "converter: a graph has no input for them."
            )
        if self.estimator_.has_none_class_:
            raise NotImplementedError(
                "Sets of a model with the class 'no label' have no ONNX converter: fit "
                "it to rows with labels."
            )
        model = copy(self.estimator_)
        alpha = self._fitted_with["alpha"]
        model.mapping_ = Temperature(Entmax(alpha), self.temperature_)
        model.threshold_ = 0.0
        return model
