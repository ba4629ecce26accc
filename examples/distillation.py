"""Distillation: a small model learns from the probabilities of a better one.

The teacher, a support vector machine with a radial kernel, tells handwritten digits
apart much better than a linear model. Its students are linear and see fifty new images
each, without labels. One is told what the teacher decides, the other the teacher's
probabilities, which say what else an image might have been. From so few images it
learns more that way; with more of them the difference goes. The figures are means over
ten draws of the fifty images.
"""

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from skprob import SoftmaxClassifier
from skprob.metrics import brier_loss

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X / 16, y, test_size=600, stratify=y, random_state=0
)
teacher = CalibratedClassifierCV(SVC(C=10), method="temperature", ensemble=False)
teacher.fit(X_train[:600], y_train[:600])
unlabelled = X_train[600:]
print(f"The teacher's accuracy: {teacher.score(X_test, y_test):.3f}\n")

print("the student learns      C  accuracy  Brier")
rng = np.random.default_rng(0)
draws = [rng.choice(len(unlabelled), size=50, replace=False) for _ in range(10)]
for C in 10, 100:
    for taught in "decisions", "probabilities":
        results = []
        for rows in draws:
            target = teacher.predict_proba(unlabelled[rows])
            if taught == "decisions":
                target = np.eye(10)[target.argmax(axis=1)]
            # Said outright, since zeros and ones would be read as sets of labels.
            student = SoftmaxClassifier(C=C, target_type="distribution")
            p = student.fit(unlabelled[rows], target).predict_proba(X_test)
            right = p.argmax(axis=1) == y_test
            results.append((right.mean(), brier_loss(y_test, p)))
        accuracy, brier = np.mean(results, axis=0)
        print(f"{taught:20}  {C:3}  {accuracy:8.3f}  {brier:.3f}")
