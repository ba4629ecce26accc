"""
Knowledge distillation: a small model learns from a large one
=============================================================

Fit a linear model to the probabilities of a larger one. The teacher, a support vector
machine with a radial kernel, classifies digits better than a linear model. Linear
students learn from new images without labels: one from the teacher's decisions, the
other from its probabilities, which have more information on doubtful images.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from skprob import SoftmaxClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X / 16, y, test_size=600, stratify=y, random_state=0
)
teacher = CalibratedClassifierCV(SVC(C=10), method="temperature", ensemble=False)
teacher.fit(X_train[:600], y_train[:600])
unlabelled = X_train[600:]
decisions = teacher.predict(unlabelled)
probabilities = teacher.predict_proba(unlabelled)
print(f"accuracy of the teacher: {teacher.score(X_test, y_test):.3f}")

# %%
# The probabilities are the target of a fit like any other. Each student is fitted to
# ten draws of the images. The two accuracies are from decisions and from probabilities.
student = SoftmaxClassifier(C=10)
rng = np.random.default_rng(0)
sizes = [25, 50, 100, 200, 400]
gains = []  # In percentage points, for each size and draw.
for size in sizes:
    accuracy = []
    for _ in range(10):
        rows = rng.choice(len(unlabelled), size, replace=False)
        for target in decisions, probabilities:
            student.fit(unlabelled[rows], target[rows])
            accuracy.append(np.mean(student.predict(X_test) == y_test))
    by_decisions, by_probabilities = np.reshape(accuracy, (10, 2)).T
    gains.append(100 * (by_probabilities - by_decisions))
    means = f"{by_decisions.mean():.3f} and {by_probabilities.mean():.3f}"
    print(f"{size:4} images: accuracy {means}")

# %%
# The gain is largest with few images. The bars are one standard error.
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.axhline(0, color="0.6")
errors = np.std(gains, axis=1, ddof=1) / np.sqrt(10)
ax.errorbar(sizes, np.mean(gains, axis=1), yerr=errors, fmt="o-", capsize=4)
ax.set(xlabel="images without labels", ylabel="gain in accuracy, percentage points")
ax.set_title("Learning from the teacher's probabilities, not its decisions")
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/distillation.png"
