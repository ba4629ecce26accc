"""The transformation of the rows of X before the coefficients multiply them."""


class Inputs:
    """No transformation: the rows of X as they are.

    `_unit_rows.py` has others, for scores that are cosines.
    """

    #: Whether rows have norm one, and scores are cosines.
    are_unit_rows = False

    def __call__(self, X):
        return X

    def for_rows(self, rows):
        """The transformation for the rows of a fit."""
        return self

    def attributes(self):
        """Fitted attributes that the transformation is made of."""
        return {"similarity_": "dot"}

    def to_model(self, coef, intercept):
        """Convert coefficients and intercepts of transformed rows to those of X."""
        return coef, intercept

    def from_model(self, coef, intercept):
        """Convert coefficients and intercepts of X to those of transformed rows."""
        return coef, intercept
