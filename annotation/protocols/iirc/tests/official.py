"""Official files for tests: generated ones of every shape, and the real sample."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
offset = st.integers(-20, 400)
indices = st.tuples(offset, offset).map(list)
json_value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(text, inner, max_size=2),
    max_leaves=4,
)
extra = st.dictionaries(text.map(lambda key: f"x_{key}"), json_value, max_size=2)


def record(required: dict[str, Any], optional: dict[str, Any] | None = None) -> Any:
    """Return a strategy for an object with unknown keys beside its own, in any order."""
    return (
        st.tuples(st.fixed_dictionaries(required, optional=optional or {}), extra)
        .map(lambda both: list({**both[0], **both[1]}.items()))
        .flatmap(st.permutations)
        .map(dict)
    )


links = st.lists(record({"target": text, "indices": indices}), max_size=3)
evidence = st.lists(
    record({"passage": st.just("main") | text, "text": text, "indices": indices}), max_size=3
)
answer_span = record({"text": text, "passage": text, "start": offset, "end": offset})
answers = st.one_of(
    record(
        {"type": st.just("span"), "answer_spans": st.lists(answer_span, min_size=1, max_size=3)}
    ),
    record({"type": st.just("value"), "answer_value": text, "answer_unit": text}),
    record({"type": st.just("binary"), "answer_value": st.sampled_from(["yes", "no"])}),
    record({"type": st.sampled_from(["none", "bad"])}),
)
questions = record(
    {"question": text, "answer": answers},
    {"qid": text | st.none(), "question_links": st.lists(text, max_size=3), "context": evidence},
)
passages = record(
    {"text": text, "questions": st.lists(questions, max_size=3)},
    {"pid": text, "title": text, "links": links},
)
files = st.lists(passages, max_size=3)
ARTICLE_PIECES = ["<", ">", '<a href="A%20b">', "</a>", "<i>", "x", "&lt;"]
article_texts = st.lists(st.sampled_from(ARTICLE_PIECES))
articles = st.dictionaries(text, article_texts.map("".join), max_size=3)


def real_file() -> bytes:
    """Return the official dev file's first passage; skips without the real data."""
    folder = os.environ.get("COLLECTOR_DATA")
    if not folder:
        pytest.skip("COLLECTOR_DATA is not set: it names the folder of real data.")
    return Path(folder, "official", "iirc", "iirc_dev_first_passage.json").read_bytes()
