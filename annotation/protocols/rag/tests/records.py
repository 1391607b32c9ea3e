"""A small collection as records: two documents, a question over both, one of nothing, one found."""

from typing import Any

HARBOUR = "The quay of Staithby was rebuilt by Ines Corvel in 1911."
CORVEL = "Ines Corvel, an engineer, was born in Marl Reach. She never built a bridge."
ROOFS = "Roofs there are of slate."


def passage(document: str, title: str, position: int, text: str, **more: Any) -> dict[str, Any]:
    about = {"title": title, "section": "", "text": text, "links": [], "position": position}
    return {**about, "document": document, "licence": "CC0-1.0", "permalink": "", **more}


QUAY = passage("harbour.pdf", "Harbours", 0, HARBOUR, section="Quays", pages=[[0, 4], [30, 5]])
ENGINEER = passage("people/c 1.md", "Corvel", 2, CORVEL)
SLATE = passage("harbour.pdf", "Harbours", 1, ROOFS, section="Quays", pages=[[0, 5]])


def mark(of: dict[str, Any], words: str) -> dict[str, Any]:
    start = of["text"].index(words)
    place = {"document": of["document"], "paragraph": of["position"]}
    return {**place, "start": start, "end": start + len(words), "text": words}


def vote(type: str, short: str = "", *evidence: dict[str, Any], **more: Any) -> dict[str, Any]:
    payload: dict[str, Any] = {"short": short, "full": short and f"It is {short}.", "reason": ""}
    payload |= {"evidence": list(evidence), **more.pop("payload", {})}
    given = {"stage": "reading", "worker": "w2", "type": type, "payload": payload}
    given |= {"hit_seconds": 60, "hit_items": 1, "synthetic": False}
    return {**given, "chosen": False, "agrees": True, **more}


def question(text: str, *votes: dict[str, Any], **more: Any) -> dict[str, Any]:
    verdict = {"outcome": "kept", "reason": "agreed", "sentence": "", "overridden": False}
    asked = {"id": "", "key": text, "text": text, "payload": {"category": "fact"}}
    asked |= {"stage": "question", "worker": "w1", "synthetic": False, "split": "dev"}
    return {**asked, "verdict": verdict, "votes": list(votes), **more}


def seed(*questions: dict[str, Any], **more: Any) -> Any:
    payload = {"rule": "shared_terms", "shared": ["Ines Corvel"], "documents": 3}
    about = {"id": "s1", "key": "s1", "fold": "dev", "payload": payload, "skips": 1}
    return {**about, "passages": [QUAY, ENGINEER], "questions": list(questions), **more}


def collection() -> list[Any]:
    writer = {"chosen": True, "worker": "w1", "stage": "question"}
    proof = mark(QUAY, "Ines Corvel"), mark(ENGINEER, "born in Marl Reach")
    bridge = question(
        "Where was who rebuilt the quay of Staithby born?",
        vote("answer", "Marl Reach", *proof, payload={"shown": 2}, **writer),
        vote("answer", "at Marl Reach", proof[1], proof[0], proof[1]),
    )
    plausible = {"shown": 2, "plausible": [mark(ENGINEER, "bridge")]}
    nowhere = question(
        "Which bridge did Ines Corvel build?",
        vote("none", payload=plausible, **writer),
        vote("none"),
    )
    found = question(
        "What are roofs made of?",
        vote("answer", "slate", mark(SLATE, "slate"), chosen=True),
        stage="natural",
        payload={},
    )
    natural = seed(found, id="s2", key="s2", fold="train", passages=[SLATE])
    found["split"] = "train"
    return [seed(bridge, nowhere), natural]


def articles() -> list[Any]:
    """Return the whole corpus, as a release is given it."""
    about: dict[str, Any] = {"text": "", "links": [], "imported": None}
    return [
        {**about, "title": "Harbours", "passages": [QUAY, SLATE]},
        {**about, "title": "Corvel", "passages": [ENGINEER]},
    ]
