"""Conversion of calibrated sets to ONNX: the methods that skl2onnx looks for."""

from __future__ import annotations

from copy import copy
from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from ...mappings import Entmax, Temperature


class OnnxSets:
    """Mixin: sets by entmax of a linear classifier, as entmax at a temperature.

    Sets that are not entmax at a temperature cannot be exported: then each method
    raises NotImplementedError, which skl2onnx passes on to the caller.
    """

    def onnx_parser(self) -> Any:
        """Function that declares the outputs, for skl2onnx."""
        return self._calibrated().onnx_parser()

    def onnx_shape_calculator(self) -> Any:
        """Function that gives the outputs their shapes, for skl2onnx."""
        return self._for_onnx("onnx_shape_calculator")

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
        score_function = self._fitted_with["score_function"]
        if score_function != "entmax":
            raise NotImplementedError(
                "Only sets with score_function='entmax' have an ONNX converter: they "
                f"are the support of entmax at a temperature; got {score_function!r}."
            )
        if not hasattr(self, "temperature_"):
            raise NotImplementedError(
                "Only sets with by=None have an ONNX converter, because they have one "
                "temperature; got by='class'."
            )
        model = self.estimator_
        while isinstance(model, FrozenEstimator) or hasattr(model, "best_estimator_"):
            model = getattr(model, "best_estimator_", None) or model.estimator
        if not hasattr(model, "onnx_parser"):
            raise NotImplementedError(
                "Only sets of a linear classifier of skprob have an ONNX converter; "
                f"got sets of {type(model).__name__}. A pipeline can be "
                "converted if ConformalSets of the classifier are its last step."
            )
        if self._needed:
            raise NotImplementedError(
                f"Sets that were calibrated with {self._needed} have no ONNX "
                "converter: a graph has no input for them."
            )
        if model.has_none_class_:
            raise NotImplementedError(
                "Sets of a model with the class 'no label' have no ONNX converter: fit "
                "it to rows with labels."
            )
        model = copy(model)
        alpha = self._fitted_with["alpha"]
        model.mapping_ = Temperature(Entmax(alpha), self.temperature_)
        model.threshold_ = 0.0
        return model
