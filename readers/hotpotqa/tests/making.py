"""Builds small recipes, questions and readers, made up or real ones."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from readers.hotpotqa.baseline import (
    PARAGRAPHS,
    Variant,
    make_reader,
    quirks_of,
    read_instances,
)
from readers.hotpotqa.difficulty_reader import RECIPE
from readers.hotpotqa.preprocessing import SPAN
from readers.trainer import checkpoint
from readers.trainer.recipe import read_recipe

TINY: Mapping[str, object] = {
    "word_width": 8,
    "character_width": 4,
    "character_filters": 5,
    "hidden": 4,
    "least_count": 1,
    "dropout": 0.0,
    "epochs": 1,
    "batch": 4,
}


def recipe(**values):
    """Return the small recipe, made tiny, with these values over it."""
    small = read_recipe(RECIPE, "small")
    return replace(small, values={**small.values, **TINY, **values})


def items(number=8):
    """Return made-up questions of official files, every fourth of them yes or no."""
    return [_item(at) for at in range(number)]


def _item(at):
    band, year = f"The Marsh Choir {at}", 1900 + at
    context = [
        [band, [f"{band} is a band.", f" Ada Brook {at} leads it."]],
        [f"Ada Brook {at}", [f"Ada Brook {at} sings.", f" She was born in {year}, they say."]],
        ["Cape Tarn", ["Nobody was ever born there."]],
    ]
    return {
        "_id": f"q{at}",
        "question": f"When was the leader of {band} born?",
        "answer": ("yes" if at % 8 else "no") if at % 4 == 0 else str(year),
        "supporting_facts": [[band, 1], [f"Ada Brook {at}", 1]],
        "context": context,
        "type": "bridge" if at % 2 else "comparison",
        "level": ("easy", "medium", "hard")[at % 3],
    }


def write(path, questions):
    """Write an official file and return its path."""
    path.write_text(json.dumps(questions), "utf-8")
    return path


def reader(questions, chosen=None, paragraphs="all", seed=1, **variant):
    """Return a reader that has learned nothing, of tiny sizes, and the questions as it reads."""
    chosen = chosen or recipe()
    made = Variant(paragraphs=paragraphs, **variant)
    quirks = quirks_of(chosen, as_published=made.as_published)
    found = list(read_instances(questions, chosen, quirks, paragraphs))
    checkpoint.seed_chance(str(seed))
    return make_reader(found, chosen, quirks, made, seed=seed)[0], found


def real_items(data: Path, number):
    """Return the real questions with the shortest gold paragraphs, whose answers are in these."""
    told = json.loads((data / "replay/hotpot_amor_test500.json").read_text("utf-8"))
    there = [
        item
        for item in told
        if {title for title, _ in item["supporting_facts"]} <= {each[0] for each in item["context"]}
    ]
    lengths = {item["_id"]: _length(item) for item in there}
    chosen = recipe()
    read = read_instances(there, chosen, quirks_of(chosen), "gold")
    fit = {one.id for one in read if one.kind != SPAN or one.span}
    kept = sorted((item for item in there if item["_id"] in fit), key=lambda i: lengths[i["_id"]])
    assert len(kept) >= number
    return kept[:number]


def facts_alone(questions):
    """Return the questions with their supporting facts as all there is to read."""
    return [_with_facts_alone(item) for item in questions]


def _with_facts_alone(item):
    read = [(title, [text for _, text in found]) for title, found in PARAGRAPHS["facts"](item)]
    facts = [[title, number] for title, texts in read for number in range(len(texts))]
    return {**item, "context": read, "supporting_facts": facts}


def _length(item):
    return sum(len(text) for _, found in PARAGRAPHS["gold"](item) for _, text in found)
