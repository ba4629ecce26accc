"""Utilities for all packages of skprob: arrays, names, checks, types, saving."""
