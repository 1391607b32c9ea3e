"""The paper's baselines, which are trained (IIRC 3.2, 4); none answers without torch."""

from collections.abc import Mapping

from readers.trained import Trained

FILES = ("train.json", "context_articles.json")
DEV = "dev.json"
BY_BOTH = {"by": "links-and-type"}
BY_NONE = {"by": "unanswerable"}


def _pipeline(about: str, gold: str, paper: Mapping[str, float | None]) -> Trained:
    return Trained(
        about=about,
        module="readers.iirc.pipeline",
        settings={"gold": gold},
        recipe="baseline",
        learns_as="pipeline" if gold else "",
        train_files=FILES,
        dev_file=DEV,
        source="IIRC, Table 3",
        paper=paper,
        scoring=BY_BOTH,
    )


def _detector(about: str, sees: str) -> Trained:
    return Trained(
        about=about,
        module="readers.iirc.unanswerable",
        settings={"sees": sees},
        recipe="baseline",
        train_files=FILES,
        dev_file=DEV,
        source="IIRC, Table 6",
        paper={f"unanswerable_{name}": None for name in ("precision", "recall", "f1")},
        scoring=BY_NONE,
    )


TRAINED: Mapping[str, Trained] = {
    "pipeline": _pipeline(
        "links, then contexts, then a reader (3.2); by links and answer types (T3 to T5)",
        "",
        {"global_em": None, "global_f1": 0.311},
    ),
    "pipeline-gold-links": _pipeline(
        "the same with gold links (4.2, T3)", "links", {"global_em": None, "global_f1": None}
    ),
    "pipeline-gold-contexts": _pipeline(
        "the same with gold links and contexts (4.2, T3)",
        "contexts",
        {"global_em": None, "global_f1": 0.703},
    ),
    "unanswerable-question": _detector("tells from the question (4.3, T6)", "question"),
    "unanswerable-passage": _detector("from question and passage (4.3, T6)", "passage"),
    "unanswerable-context": _detector(
        "from question, passage and the predicted contexts (4.3, T6)", "context"
    ),
}
