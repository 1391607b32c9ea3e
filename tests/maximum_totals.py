"""What collections may be like, of every protocol: none costs more than was said."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from collector.models import Corpus
from collector.retrieval.passages import build_passages
from tasks.dialog.tests.making import make_sections
from tasks.tests.making import make_corpus
from tests.lifecycles import Life, World, whole_world

FEES = {
    "pay.fee_percent": st.sampled_from([0, 20, 33]),
    "pay.min_fee_cents": st.sampled_from([0, 1, 7]),
    "pay.approve_after_hours": st.sampled_from([0, 24, 48]),
    "pay.repeats_percent": st.sampled_from([0, 10, 50]),
}
CENTS = st.integers(0, 400)
SMALL = st.integers(1, 3)


def _redundancy(least: int = 1, *, shares: bool = True) -> Any:
    number = st.integers(least, 3)
    same = st.fixed_dictionaries({"train": number, "dev": number, "test": number})
    # More people than any fold has do a part of the HITs, or nobody does.
    share = st.sampled_from([{}, {"percent": 15, "people": 4}, {"percent": 60, "people": 5}])
    return st.builds(lambda usual, more: {**usual, **more}, same, share) if shares else same


def _stage(name: str, least: int = 1, *, shares: bool = True) -> dict[str, Any]:
    return {
        f"{name}.reward_cents": CENTS,
        f"{name}.redundancy": _redundancy(least, shares=shares),
        f"{name}.places_at_once": st.integers(1, 6),
    }


IIRC = {
    **_stage("question_qualification", shares=False),
    **_stage("question"),
    **_stage("answer_qualification", shares=False),
    **_stage("answer"),
    **_stage("human_performance"),
    "seeds.min_links": st.just(2),
    "seeds.min_links_in_corpus": st.just(2),
    "question_qualification.items_per_hit": st.just(1),
    "question_qualification.questions_per_hit": st.just(1),
    "question_qualification.multi_link_questions": st.just(0),
    "question.items_per_hit": SMALL,
    "question.questions_per_hit": SMALL,
    "question.multi_link_questions": st.just(0),
    "answer_qualification.items_per_hit": st.just(1),
    "answer.items_per_hit": SMALL,
    "human_performance.items_per_hit": SMALL,
    "human_performance.sample_questions": SMALL,
}
HOTPOTQA = {
    **_stage("question"),
    **_stage("human_performance"),
    "question.items_per_hit": SMALL,
    "question.max_skips": st.integers(0, 2),
    "question.max_skips_per_pair": st.integers(1, 3),
    "question.bonuses.top_every_examples": st.integers(1, 4),
    "question.bonuses.top_cents": st.lists(st.integers(1, 300), max_size=2),
    "question.bonuses.block_examples": SMALL,
    "question.bonuses.wait_hours": st.sampled_from([0, 24]),
    "human_performance.items_per_hit": SMALL,
}
QUAC = {
    **_stage("student_qualification", shares=False),
    **_stage("teacher_qualification", shares=False),
    **_stage("dialog", shares=False),
    **_stage("validation", 0),
    "student_qualification.items_per_hit": st.just(1),
    "teacher_qualification.items_per_hit": st.just(1),
    "dialog.turn_cents": st.lists(st.integers(0, 40), min_size=1, max_size=12).map(sorted),
    "dialog.wait_cents_per_minute": st.integers(0, 20),
    "dialog.wait_minutes": st.integers(1, 15),
    "dialog.min_pairs": SMALL,
}
BOOKQA = {
    **_stage("question"),
    **_stage("answer"),
    **_stage("label"),
    "answer.items_per_hit": SMALL,
    "label.items_per_hit": SMALL,
    "label.sample_questions": st.integers(1, 9),
}
SQUAD = {
    **_stage("question"),
    **_stage("answer", 0, shares=False),
    "question.items_per_hit": SMALL,
    "question.questions_per_item": SMALL,
    "question.unanswerable_per_item": st.integers(0, 1),
    "answer.items_per_hit": SMALL,
    "answer.redundancy.train": st.integers(0, 1),
}
RAG = {
    **_stage("natural"),
    **_stage("question"),
    **_stage("find"),
    **_stage("reading"),
    "natural.items_per_hit": SMALL,
    "question.items_per_hit": SMALL,
    "question.max_skips": st.integers(0, 2),
    "question.max_skips_per_set": st.integers(1, 3),
    "find.items_per_hit": SMALL,
    "reading.items_per_hit": SMALL,
}
PROTOCOLS = {
    "bookqa": BOOKQA,
    "iirc": IIRC,
    "hotpotqa": HOTPOTQA,
    "quac": QUAC,
    "rag": RAG,
    "squad": SQUAD,
}
# Whose workers skip what they cannot write about.
SKIPPING = ("hotpotqa", "rag")
# The stages in which a seed has one writer, always.
ONE_WRITER = {"hotpotqa": ["question"], "rag": ["question"]}
FOLDS = {"hotpotqa": st.just(""), "iirc": st.sampled_from(["train", "dev", "test"])}


@st.composite
def plans(draw: Any) -> tuple[str, dict[str, Any], list[str], int]:
    """Draw a protocol, what is changed of its parameters, the folds of its seeds, and a seed."""
    protocol = draw(st.sampled_from(sorted(PROTOCOLS)))
    changed = draw(st.fixed_dictionaries({**FEES, **PROTOCOLS[protocol]}))
    if protocol in SKIPPING:
        # One pair or set of a HIT at least is to be written about.
        most = changed["question.items_per_hit"] - 1
        changed["question.max_skips"] = min(changed["question.max_skips"], most)
    for stage in ONE_WRITER.get(protocol, ()):
        del changed[f"{stage}.redundancy"]
    fold = FOLDS.get(protocol, FOLDS["iirc"])
    folds = draw(st.lists(fold, min_size=1, max_size=5 if protocol != "quac" else 2))
    return protocol, changed, folds, draw(st.integers(0, 10**6))


def corpus_for(protocol: str) -> Corpus:
    """Return the pages that collections of the protocol start from, made once."""
    slug = f"pages-{protocol}"
    found = Corpus.objects.filter(slug=slug).first()
    if found:
        return found
    made = make_sections(6, slug=slug) if protocol == "quac" else make_corpus(24, slug=slug)
    if protocol == "rag":
        build_passages(made)
    return made


def live(world: World, plan: tuple[str, dict[str, Any], list[str], int], n_steps: int) -> Life:
    """Live a collection to its end, and check at every step that it costs no more than was said."""
    protocol, changed, folds, seed = plan
    life = Life(world, protocol, corpus_for(protocol), changed, folds, seed)
    said = life.begin()
    for _ in range(n_steps):
        life.step()
        assert life.cost() <= said + life.withdrawn(), f"{life.cost()} cents, {said} were said"
    life.end()
    print(life.told(), f"{said} said")
    assert life.cost() <= said + life.withdrawn()
    assert life.collection.reserved_cents == 0
    assert life.confirmed() == life.owed_there()
    return life


def check(
    monkeypatch: pytest.MonkeyPatch, site: Any, home: Path, *, examples: int, steps: int, start: int
) -> None:
    """Live so many random collections; their parameters and people follow from `start` alone.

    home: where what they search is kept.
    """
    site.HOME = home

    @seed(start)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(plans())
    def holds(plan: tuple[str, dict[str, Any], list[str], int]) -> None:
        live(world, plan, steps)

    with whole_world(monkeypatch, site) as world:
        holds()
