"""What fitted classifiers predict: probabilities, labels, label sets and accuracies.

Read `_prediction.py` first: rows are predicted a block at a time. `_threshold.py`
chooses thresholds of label sets from probabilities and labels of rows, and
`_label_sets.py` applies them.
"""
