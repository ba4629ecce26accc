"""Receivers of the reports of a fit."""


class NoProgress:
    """Reports of a fit that go nowhere; `base/_progress.py` has others."""

    def start(self, most_iterations, attributes_at):
        """A fit of `most_iterations` (None if unknown) begins.

        ``attributes_at(parameters)`` are the fitted attributes at some parameters.
        """

    def begin(self, parameters):
        """The first iteration of an objective begins."""

    def __call__(self, n_iter, parameters, value, gradient_norm, last):
        """An iteration has ended, the last or not; True asks the fit to stop."""
        return False

    def end(self):
        """The solver has ended, perhaps in an iteration that it gave up."""

    def finish(self):
        """The fit has ended, and the estimator has its attributes."""


NO_PROGRESS = NoProgress()
