"""Questions of two paragraphs for tests: as official items, and as records collected here."""

from typing import Any

from annotation.records.schema import PassageRecord, QuestionRecord, SeedRecord

TEXTS = {
    "Ada Harrow": "Ada Harrow kept the tide tables of Quarnsey. She was born in Staithby.",
    "Staithby": "Staithby is a harbour. It was founded in 1702.",
    "Querncross": "Querncross has a school. Its walls are of slate.",
    "Marle": "Marle is an island. No ferry goes there.",
}


def passage(title: str) -> PassageRecord:
    """Return one of TEXTS, with its two sentences."""
    text = TEXTS[title]
    end = text.index(".") + 1
    sentences = [(0, end), (end + 1, len(text))]
    return {"title": title, "section": "", "text": text, "links": [], "sentences": sentences}


def released(title: str) -> list[Any]:
    """Return the passage as the official files have it."""
    text = TEXTS[title]
    end = text.index(".") + 1
    return [title, [text[:end], text[end:]]]


def item(number: int = 0, **values: Any) -> dict[str, Any]:
    """Return an official item; a value None leaves the key out."""
    whole = {
        "_id": f"{number:024x}",
        "answer": "1702",
        "question": f"When was the town founded in which keeper {number} was born?",
        "supporting_facts": [["Ada Harrow", 1], ["Staithby", 1]],
        "context": [released(title) for title in ("Marle", "Staithby", "Ada Harrow")],
        "type": "bridge",
        "level": "hard",
    } | values
    return {name: value for name, value in whole.items() if value is not None}


def record(split: str, text: str = "When was the town founded?", **values: Any) -> SeedRecord:
    """Return the record of a pair with one kept question, answered by its writer."""
    pair = [passage("Ada Harrow"), passage("Staithby")]
    span = {"document": 1, "start": 41, "end": 45, "text": "1702"}
    question: QuestionRecord = {
        "id": "key",
        "key": "key",
        "text": text,
        "payload": {"type": "bridge", "form": "any", "facts": [[0, 1], [1, 1]]},
        "stage": "question",
        "worker": "worker_ada",
        "synthetic": False,
        "verdict": {"outcome": "kept", "reason": "written", "sentence": "", "overridden": False},
        "split": split,
        "votes": [
            {
                "stage": "question",
                "worker": "worker_ada",
                "type": "span",
                "payload": {"spans": [span], "facts": [[0, 1], [1, 1]]},
                "hit_seconds": 60,
                "hit_items": 1,
                "synthetic": False,
                "chosen": True,
                "agrees": True,
            }
        ],
        "contexts": {
            "distractor": [passage("Querncross"), *reversed(pair)],
            "fullwiki": [passage("Marle"), passage("Staithby")],
        },
        **values,  # type: ignore[typeddict-item]
    }
    return {
        "id": "seed",
        "key": "seed",
        "fold": "",
        "payload": {"type": "bridge", "form": "any", "set": "keepers"},
        "passages": pair,
        "questions": [question],
    }
