"""Questions about invented lighthouses, of every type, as official files; for tests."""

import json
import random
from pathlib import Path
from typing import Any

from readers.tests.tiny_encoders import save_encoder, tiny_encoder

NAMES = tuple(
    "Arnholt Birk Cliffe Dunmar Ewe Farrow Gull Hallin "
    "Inver Jarl Kelso Lund Morar Nairn Orra Pentland".split()
)
KEEPERS = tuple(
    "Ada Bela Cyril Dora Edda Frida Georg Hanna Ida Jon Karl Lotte Mary Nils Olga Peter".split()
)
N_TRAIN, N_DEV = 6, 2


def passage(at: int) -> dict[str, Any]:
    """Return one passage with four questions: a span, a number, a yes or no, and none."""
    name, keeper = NAMES[at], KEEPERS[at]
    text = f"The light of {name} was kept by {keeper} and is lit by night."
    links = [_link(text, name), _link(text, keeper)]
    tower, life = tower_of(at), life_of(at)
    (colour, years), (born, _) = (article.split(". ") for article in (tower, life))
    first, last = 1800 + at, 1850 + 3 * at
    questions = [
        _question(
            f"In which town was the keeper of {name} born?",
            [keeper],
            {"type": "span", "answer_spans": [_span(keeper, f"Port {name}", life)]},
            [_evidence("main", f"kept by {keeper}", text), _evidence(keeper, born, life)],
        ),
        _question(
            f"For how many years was the light of {name} lit?",
            [name],
            {"type": "value", "answer_value": str(last - first), "answer_unit": "years"},
            [_evidence(name, years, tower)],
        ),
        _question(
            f"Is the tower of {name} white?",
            [name],
            {"type": "binary", "answer_value": "yes" if at % 2 else "no"},
            [_evidence("main", f"The light of {name}", text), _evidence(name, colour, tower)],
        ),
        _question(f"What did the tower of {name} cost?", [name, keeper], {"type": "none"}, []),
    ]
    for number, question in enumerate(questions):
        question["qid"] = f"q_{at}_{number}"
    return {"pid": f"p_{at}", "title": name, "text": text, "links": links, "questions": questions}


def tower_of(at: int) -> str:
    """Return what the article about a light says."""
    colour = "white" if at % 2 else "red"
    lit, out = 1800 + at, 1850 + 3 * at
    return f"The tower of {NAMES[at]} is {colour}. It was lit in {lit} and put out in {out}."


def life_of(at: int) -> str:
    """Return what the article about a keeper says."""
    return f"{KEEPERS[at]} was born in Port {NAMES[at]}. Nobody knew why."


def write_files(folder: Path, *, answered: bool = True) -> dict[str, Path]:
    """Write train.json, dev.json, context_articles.json and a tiny encoder; return them by name."""
    folds = {"train": range(N_TRAIN), "dev": range(N_TRAIN, N_TRAIN + N_DEV)}
    found = {}
    for fold, numbers in folds.items():
        passages = [passage(at) for at in numbers]
        for question in (each for one in passages for each in one["questions"]):
            if fold == "dev" and not answered:
                del question["answer"], question["context"]
        found[fold] = _write(folder / f"{fold}.json", passages)
    found["articles"] = _write(folder / "context_articles.json", articles())
    texts = [path.read_text("utf-8") for path in found.values()]
    save_encoder(tiny_encoder(texts, random.Random(1)), folder / "encoder")
    return {**found, "encoder": folder / "encoder"}


def articles() -> dict[str, str]:
    """Return what is linked, by title in lower case."""
    towers = {name.lower(): tower_of(at) for at, name in enumerate(NAMES)}
    return towers | {name.lower(): life_of(at) for at, name in enumerate(KEEPERS)}


def _write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content), "utf-8")
    return path


def _link(text: str, name: str) -> dict[str, Any]:
    start = text.index(name)
    return {"target": name, "indices": [start, start + len(name)]}


def _question(
    text: str, links: list[str], answer: dict[str, Any], context: list[dict[str, Any]]
) -> dict[str, Any]:
    return {"question": text, "question_links": links, "answer": answer, "context": context}


def _evidence(document: str, words: str, text: str) -> dict[str, Any]:
    start = text.index(words)
    return {"passage": document, "text": words, "indices": [start, start + len(words)]}


def _span(document: str, words: str, text: str) -> dict[str, Any]:
    start = text.index(words)
    return {"passage": document, "text": words, "start": start, "end": start + len(words)}
