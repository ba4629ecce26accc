"""Sparsemax."""

from ._entmax import Entmax


class Sparsemax(Entmax):
    _parameter_constraints = {}
    alpha = 2.0

    def __init__(self):
        pass
