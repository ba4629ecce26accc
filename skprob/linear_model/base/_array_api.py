"""Whether a classifier takes arrays of other libraries than NumPy."""

from ...losses import get_loss


class ArrayApiSupport:
    """Mixin: X of another library, where the mapping and the loss take it."""

    #: Whether `fit` takes arrays of other libraries, if mapping and loss do.
    _takes_arrays = True

    def _check_array_api(self, spec):
        """Raise where X may not be an array of another library."""
        source = self
        if self._takes_arrays:
            source = spec.loss.mapping
            if source.traits.supports_array_api:
                source = spec.loss
            if source.traits.supports_array_api:
                return
        raise ValueError(
            f"X must be a NumPy array for {source!r}, which takes no other arrays "
            "under array_api_dispatch=True: convert it, for instance by np.asarray(X)."
        )

    def _supports_array_api(self):
        try:
            mapping = self._mapping() if self._takes_arrays else None
            if mapping is None or not mapping.traits.supports_array_api:
                return False
            # The loss that matches such a mapping supports them, too.
            loss = self._loss()
            is_auto = isinstance(loss, str) and loss == "auto"
            return is_auto or get_loss(loss, mapping).traits.supports_array_api
        except (TypeError, ValueError):  # Fitting raises a clearer error.
            return False
