"""Boosted trees that give the same scores on every machine, whatever the number of its cores."""

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy

# Ours: enough for the features here; more trees cost time and answer no more questions.
SETTINGS = {
    "max_iter": 80,
    "learning_rate": 0.12,
    "max_leaf_nodes": 24,
    "min_samples_leaf": 20,
    "early_stopping": False,
}


class Trees:
    """A classifier; with fewer than two classes to learn from it says how frequent they were."""

    def __init__(self, categories: list[int]) -> None:
        self.categories = categories
        self.model: Any = None
        self.classes: list[int] = []

    def fit(self, rows: "numpy.ndarray", classes: "numpy.ndarray", rng: random.Random) -> None:
        """Learn `classes`, one of each row."""
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits

        seed = rng.getrandbits(32)
        self.classes = sorted({int(each) for each in classes})
        if len(self.classes) < 2:
            return
        self.model = HistGradientBoostingClassifier(
            categorical_features=self.categories, random_state=seed, **SETTINGS
        )
        with threadpool_limits(1):
            self.model.fit(rows, classes)

    def scores(self, rows: "numpy.ndarray") -> "numpy.ndarray":
        """Return each row's log-odds of the second of two classes; zeros where nothing is known."""
        import numpy
        from threadpoolctl import threadpool_limits

        if self.model is None or not len(rows):
            return numpy.zeros(len(rows))
        with threadpool_limits(1):
            found: numpy.ndarray = self.model.decision_function(rows)
        return found

    def probabilities(self, rows: "numpy.ndarray", n_classes: int) -> "numpy.ndarray":
        """Return rows × n_classes probabilities; a class never seen keeps a small one."""
        import numpy
        from threadpoolctl import threadpool_limits

        found = numpy.full((len(rows), n_classes), 1e-4)
        if self.model is None:
            found[:, self.classes or [0]] = 1.0
        else:
            with threadpool_limits(1):
                found[:, self.classes] += self.model.predict_proba(rows)
        shares: numpy.ndarray = found / found.sum(axis=1, keepdims=True)
        return shares
