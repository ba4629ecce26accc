"""What fitted classifiers predict: probabilities, labels, label sets and accuracies.

Read `_fitted_model.py` first, what a fit learnt as plain data, and `_prediction.py`:
rows are predicted a block at a time. `_inputs.py` transforms the rows of X.
`_threshold.py` chooses thresholds of label sets from probabilities and labels of rows,
and `_label_sets.py` applies them.
"""
