"""Builds examples whose answers can be learned: who leads which band, and which is older."""

import random

from readers.reader import Example, Text

FIRST = "Ada Grace Rita Olga Nora Ines Vera Ella Ruth Maud".split()
LAST = "Hollin Marsh Brook Field Stone Heath Dale Ford Wood Lake".split()


def make_examples(number: int, seed: int = 1) -> list[Example]:
    """Return questions about pairs of made-up texts, a quarter of them yes or no."""
    rng = random.Random(seed)
    return [_make(rng, at) for at in range(number)]


def _make(rng: random.Random, at: int) -> Example:
    name = f"{rng.choice(FIRST)} {rng.choice(LAST)}"
    band = f"The {rng.choice(LAST)} {rng.choice(['Choir', 'Trio', 'Band'])} {at}"
    year, other = rng.sample(range(1900, 2000), 2)
    texts = (
        _text(band, f"{band} is a band from Upper {rng.choice(LAST)}.", f"It is led by {name}."),
        _text(name, f"{name} is a singer.", f"She was born in {year} near Lower Hollin."),
    )
    if at % 4:
        question = f"In which year was the singer born who leads {band}?"
        return Example(f"k{at:05}", question, texts, str(year), ((0, 1), (1, 1)))
    born = rng.random() < 0.5
    question = f"Was the leader of {band} born in {year if born else other}?"
    return Example(f"k{at:05}", question, texts, "yes" if born else "no", ((0, 1), (1, 1)))


def _text(title: str, first: str, second: str) -> Text:
    text = f"{first} {second}"
    return Text(title, text, ((0, len(first)), (len(first), len(text))))
