"""A callback that stores its arguments."""

import numpy as np


class Recorder:
    """Store the arguments of each call, and stop after a number of iterations."""

    def __init__(self, stop_after=np.inf):
        self.stop_after = stop_after
        self.events, self.models = [], []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(
        self, estimator, context, *, X, y, metadata, fitted_estimator=None
    ):
        self.events.append(f"end {context.task_name}")
        self.data = (X, y, metadata)
        self.models.append(fitted_estimator)
        return (
            context.task_name == "iteration"
            and self.events.count("end iteration") >= self.stop_after
        )
