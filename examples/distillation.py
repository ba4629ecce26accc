"""
A small model learns from a large one
=====================================

The teacher, a support vector machine with a radial kernel, classifies handwritten
digits better than a linear model. Linear students learn from new images without labels.
One student learns the teacher's decisions, the other its probabilities, which have more
information on doubtful images. The gain is largest with few images.
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
shares = teacher.predict_proba(unlabelled)
print(f"accuracy of the teacher: {teacher.score(X_test, y_test):.3f}")

# %%
# Each student is fitted to ten draws of the images. A matrix of zeros and ones would
# count as label sets; ``target_type`` declares distributions.
rng = np.random.default_rng(0)
sizes = [25, 50, 100, 200, 400]
targets = {"decisions": np.eye(10)[shares.argmax(axis=1)], "probabilities": shares}
gains, errors = [], []
for size in sizes:
    draws = [rng.choice(len(unlabelled), size, replace=False) for _ in range(10)]
    accuracy = {}
    for taught, target in targets.items():
        student = SoftmaxClassifier(C=10, target_type="distribution")
        fits = (student.fit(unlabelled[rows], target[rows]) for rows in draws)
        accuracy[taught] = np.array(
            [np.mean(m.predict(X_test) == y_test) for m in fits]
        )
    gain = 100 * (accuracy["probabilities"] - accuracy["decisions"])
    gains.append(gain.mean())
    errors.append(gain.std(ddof=1) / np.sqrt(len(gain)))
    print(
        f"{size:4} images: accuracy {accuracy['decisions'].mean():.3f} from decisions, "
        f"{accuracy['probabilities'].mean():.3f} from probabilities"
    )

# %%
# The figure has the gain in accuracy on the same draws of images. The bars are one
# standard error.
figure, ax = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
ax.axhline(0, color="0.6")
ax.errorbar(sizes, gains, yerr=errors, fmt="o-", color="#d1495b", capsize=4)
ax.set(xscale="log", xticks=sizes, xticklabels=sizes, xlabel="images without labels")
ax.set_ylabel("gain in accuracy, percentage points")
ax.set_title("Learning from the teacher's probabilities, not its decisions")
ax.minorticks_off()
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/distillation.png"
