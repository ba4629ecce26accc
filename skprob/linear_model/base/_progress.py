"""Reports of a fit's progress: scikit-learn's callbacks and `verbose`."""


class FitProgress:
    """Reports of the iterations of a classifier's fit.

    scikit-learn's callbacks get one task per iteration, opened before the iteration
    and closed after it.

    Parameters
    ----------
    estimator : estimator
        The estimator that is fitted. With ``verbose=1`` every tenth iteration is
        printed, with 2 every iteration.
    data : dict
        ``X``, ``y`` and ``metadata`` of the fit, for the callbacks.
    has_callbacks : bool
        Without callbacks there is no task to report.
    """

    def __init__(self, estimator, data, has_callbacks):
        self._estimator, self._data = estimator, data
        self._has_callbacks = has_callbacks
        self._context = self._iteration = self._attributes_at = self._parameters = None

    def start(self, most_iterations, attributes_at):
        """A fit of `most_iterations` (None if unknown) begins.

        ``attributes_at(parameters)`` are the fitted attributes at some parameters.
        """
        if not self._has_callbacks:
            return
        self._attributes_at = attributes_at
        self._context = self._estimator._init_callback_context(
            max_subtasks=most_iterations
        )
        self._context.call_on_fit_task_begin(estimator=self._estimator, **self._data)

    def finish(self):
        """The fit has ended, and the estimator has its attributes."""
        if not self._has_callbacks:
            return
        self._context.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=dict, **self._data
        )

    def begin(self, parameters):
        """The first iteration of an objective begins."""
        if not self._has_callbacks:
            return
        self._parameters = parameters
        self._iteration = self._context.subcontext(task_name="iteration")
        self._iteration.call_on_fit_task_begin(
            estimator=self._estimator,
            reconstruction_attributes=lambda: self._attributes_at(parameters),
            **self._data,
        )

    def __call__(self, n_iter, parameters, value, gradient_norm, last):
        """An iteration has ended, the last or not; the result True stops the fit."""
        verbose = self._estimator.verbose
        if verbose > 1 or (verbose == 1 and (last or n_iter % 10 == 0)):
            print(
                f"[{type(self._estimator).__name__}] iteration {n_iter}: "
                f"objective {value:.8g}, largest gradient entry {gradient_norm:.3g}"
            )
        if not self._has_callbacks:
            return False
        stop = self._close(parameters)
        if not (stop or last):
            self.begin(parameters)
        return stop

    def end(self):
        """The solver has ended, possibly within an iteration that it left."""
        self._close(self._parameters)

    def _close(self, parameters):
        """Close the task of an iteration; returns whether a callback stops the fit."""
        if self._iteration is None:
            return False
        stop = self._iteration.call_on_fit_task_end(
            estimator=self._estimator,
            reconstruction_attributes=lambda: self._attributes_at(parameters),
            **self._data,
        )
        self._iteration = None
        return stop
