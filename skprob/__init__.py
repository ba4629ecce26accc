"""Linear classifiers with a choice of output mapping and its matching loss."""

__version__ = "0.1.0"
