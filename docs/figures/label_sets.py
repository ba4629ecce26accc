"""One prediction of the digits in a picture, and the sizes of all of them."""

import matplotlib.pyplot as plt
from overlaid import overlaid_digits

from skprob import EntmaxClassifier
from skprob.inspection import PredictionDisplay, SupportSizeDisplay

X_train, Y_train, X_test, Y_test = overlaid_digits()
model = EntmaxClassifier().fit(X_train, Y_train)
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6))
PredictionDisplay.from_estimator(model, X_test[[1]], Y_test[[1]], ax=left)
SupportSizeDisplay.from_estimator(model, X_test, Y_test, ax=right)
