"""Sets of passages become seeds of both stages in turn, the same however often they are chosen."""

import json
import random
import re
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command

from annotation.dashboard.tests.making import make_browser, send
from annotation.protocols.rag.tests.conftest import FIRSTS, PLACES, write_documents
from annotation.release.facts import Dates
from annotation.release.log import LogError, SeedLine
from annotation.release.write_log import log_lines
from annotation.replay.recreation import recreate_seeds
from collector.models import Collection, Corpus, SeedParagraph
from collector.models.accounts import owner
from collector.protocols.loading import get_protocol
from collector.seeds.passage_sets import passage_sets
from collector.seeds.selection import find_looser
from tasks.costs import estimate
from tasks.tests.making import NOW
from tests.page_workers import run

pytestmark = pytest.mark.django_db
FEW = ["seeds.min_characters=40", "seeds.max_share_together=1.0"]


def ingest(folder: Path, corpus: str) -> None:
    options = {"corpus": corpus, "language": "en", "processes": 1}
    call_command("ingest_documents", str(folder), **options, stdout=StringIO())


def chosen(slug: str, *counts: int) -> list[tuple[str, str]]:
    """Return the key and the stage of each seed of a new collection, chosen some at a time."""
    run("create_collection", slug, protocol="rag", corpus="coast", budget=90.0, seed=3, set=FEW)
    for count in counts:
        run("select_seeds", slug, count=count)
    seeds = Collection.objects.get(slug=slug).seeds.order_by("position")
    return list(seeds.values_list("key", "stage__name"))


def test_both_stages_are_given_seeds_in_turn_and_more_are_as_many_at_once(
    tmp_path: Path, settings: Any
) -> None:
    settings.HOME = tmp_path
    ingest(write_documents(tmp_path / "own"), "coast")
    seeds = chosen("at-once", 3)
    assert [stage for _, stage in seeds] == ["natural", "question"] * 3
    assert chosen("one-by-one", 1, 2) == seeds
    told = StringIO()
    call_command("select_seeds", "one-by-one", count=1, stdout=told)
    assert "Chose 2 seeds, 1 for each of natural and question:" in told.getvalue()


def test_passages_left_out_as_nearly_the_same_are_counted(tmp_path: Path, settings: Any) -> None:
    settings.HOME, settings.PASSWORDLESS_SIGN_IN = tmp_path, True
    folder = write_documents(tmp_path / "own")
    harbour = (folder / "tarn.md").read_text("utf-8").split("\n\n")[2]
    (folder / "tarn-again.md").write_text(f"# Tarn again\n\n{harbour} It is so.\n", "utf-8")
    ingest(folder, "coast")
    chosen("told", 1)
    steps = [
        "19 passages of 40 to 2,500 characters",
        "18 passages after leaving out 1 nearly the same as another",
    ]
    told = StringIO()
    call_command("select_seeds", "told", count=1, stdout=told)
    assert [line.strip() for line in told.getvalue().splitlines()[:2]] == steps
    browser = make_browser()
    browser.force_login(owner())
    seeds = "/collections/told/seeds/"
    page = send(browser, seeds, f"{seeds}choose/", {"count": "1"}, follow=True).content.decode()
    assert f"Left by one filter after the other: {'; '.join(steps)}." in page
    assert "1 for each of Natural and Question." in page
    assert "As many for each stage that starts from seeds: Natural, Question." in page


def write_contracts(folder: Path, number: int) -> Path:
    """Return a folder of so many documents that are made from one template."""
    folder.mkdir()
    for at in range(number):
        terms = "\n\n".join(
            f"{part} of this agreement binds {FIRSTS[at % 9]} and {PLACES[(at + 2) % 9]}, who pay "
            f"{at + 13} shillings for it on the first day of the month, in coin and by hand, and "
            "answer for every loss that comes of their delay before the court of the county."
            for part in ("The lease", "The pledge", "The escrow")
        )
        (folder / f"contract-{at}.md").write_text(f"# Contract {at}\n\n{terms}\n", "utf-8")
    return folder


def test_too_few_sets_say_what_looser_values_would_give_and_where_to_change_them(
    tmp_path: Path, settings: Any
) -> None:
    settings.HOME, settings.PASSWORDLESS_SIGN_IN = tmp_path, True
    folder = write_documents(tmp_path / "own")
    write_contracts(folder / "contracts", 12)
    ingest(folder, "coast")
    few = ["seeds.min_characters=170", "seeds.max_share_together=1.0"]
    run("create_collection", "few", protocol="rag", corpus="coast", budget=90.0, seed=3, set=few)
    browser = make_browser()
    browser.force_login(owner())
    seeds = "/collections/few/seeds/"

    page = send(browser, seeds, f"{seeds}choose/", {"count": "90"}, follow=True).content.decode()

    loosened = page.partition("More seeds, by loosening one value")[2].partition("</section>")[0]
    told = dict(re.findall(r'<th scope="row">([^<]*)</th><td>(.*?)</td>', loosened))
    # Each says what the values would give, the nearest first, only where that is more.
    numbers = {
        label: [int(number) for number in re.findall("<b>([^<]*)</b>", row)]
        for label, row in told.items()
    }
    assert {"Min characters", "Near duplicate share"} <= set(numbers)
    assert all(row == sorted(set(row)) for row in numbers.values())
    assert 'href="/collections/few/change/?open=data#seeds.near_duplicate_share"' in loosened
    changed = {"seeds.min_characters": 136, "seeds.max_share_together": 1.0}
    table: Any = get_protocol("rag").parameters(changed).seeds  # type: ignore[attr-defined]
    offered = list(passage_sets(Corpus.objects.get(slug="coast"), table, random.Random(1), {}))
    assert abs(len(offered) - numbers["Min characters"][0]) <= 3


def test_a_corpus_that_takes_too_long_to_count_is_not_counted(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.HOME = tmp_path
    ingest(write_documents(tmp_path / "own"), "coast")
    chosen("large", 1)
    monkeypatch.setattr("collector.seeds.passage_sets.MOST_COUNTED", 3)
    found = find_looser(Collection.objects.get(slug="large"), 90)
    assert (found.single, found.together) == ([], [])


def test_what_is_in_too_many_documents_is_counted_and_one_that_is_left_is_one(
    tmp_path: Path, settings: Any
) -> None:
    settings.HOME = tmp_path
    folder = tmp_path / "own"
    folder.mkdir()
    same = "Whoever comes by the harbour after dark asks the keeper of the gate for a lantern."
    for name in ("ash", "birch", "cedar", "elm"):
        (folder / f"{name}.md").write_text(f"# {name.title()}\n\n{same}\n", "utf-8")
    other = "A rowing boat lies at the pier, and its oars are kept at the mill on the hill."
    (folder / "oak.md").write_text(f"# Oak\n\n{other}\n", "utf-8")
    ingest(folder, "coast")
    table: Any = get_protocol("rag").parameters({"seeds.min_characters": 40}).seeds  # type: ignore[attr-defined]
    offered = passage_sets(Corpus.objects.get(slug="coast"), table, random.Random(1), {})
    assert [f"{left} {what}" for what, left in offered.steps] == [
        "5 passages of 40 to 2,500 characters",
        "1 passage after leaving out 4 found in too many documents",
    ]


def test_sets_depend_on_the_text_alone_and_say_what_connects_them(
    tmp_path: Path, settings: Any
) -> None:
    settings.HOME = tmp_path
    folder = write_documents(tmp_path / "own")
    for corpus in ("coast", "again"):
        ingest(folder, corpus)
    table: Any = get_protocol("rag").parameters({"seeds.min_characters": 40}).seeds  # type: ignore[attr-defined]
    once, again = (
        list(passage_sets(Corpus.objects.get(slug=slug), table, random.Random(1), {}))
        for slug in ("coast", "again")
    )
    assert [each.text for each in once] == [each.text for each in again]
    assert [each.payload for each in once] == [each.payload for each in again]
    assert {each.payload["documents"] for each in once} == {9}
    several = [each for each in once if each.payload["rule"] in ("shared_terms", "citation")]
    assert any(each.payload["shared"] for each in several)


def test_later_seeds_see_documents_that_came_since_and_no_split_is_joined(
    tmp_path: Path, settings: Any
) -> None:
    settings.HOME = tmp_path
    folder = write_documents(tmp_path / "own")
    ingest(folder, "coast")
    chosen("grown", 3)
    collection = Collection.objects.get(slug="grown")
    before = dict(SeedParagraph.objects.values_list("seed_id", "paragraph_id"))
    # Each says what one of before says too, and the last what all of them say.
    passages = [path.read_text("utf-8").split("\n\n")[2] for path in sorted(folder.glob("*.md"))]
    for at, passage in enumerate(passages):
        (folder / f"new-{at}.md").write_text(
            f"# New {at}\n\n{passage} Indeed.\n\nA quay {at} of brick, {PLACES[at]} {FIRSTS[at]}, "
            f"held {at} cranes until a winter storm took number {at} to sea.\n",
            "utf-8",
        )
    bridge = "\n\n".join(f"{passage} Truly." for passage in passages)
    (folder / "bridge.md").write_text(
        f"# Bridge\n\n{bridge}\n\nThe bridge over the estuary was never opened by the duke.\n"
    )
    ingest(folder, "coast")
    told = StringIO()
    call_command("select_seeds", "grown", count=3, stdout=told)
    assert "found in documents of two splits" in told.getvalue()
    shown = SeedParagraph.objects.filter(seed__collection=collection)
    assert dict(shown.filter(seed__in=before).values_list("seed_id", "paragraph_id")) == before
    assert len(set(shown.values_list("paragraph_id", flat=True))) == shown.count()
    assert shown.filter(paragraph__article__title__startswith="New").exists()
    splits: dict[str, set[str]] = {}
    for title, text, split in shown.values_list(
        "paragraph__article__title", "paragraph__text", "seed__fold"
    ):
        splits.setdefault(title, set()).add(split)
        # What is nearly the same stands for the document that had it first.
        splits.setdefault(text.removesuffix(" Indeed.").removesuffix(" Truly."), set()).add(split)
    assert all(len(found) == 1 for found in splits.values())
    # The log of all this tells what was drawn from fewer documents.
    lines = [json.loads(line) for line in log_lines(collection, Dates(NOW.date(), None, None))]
    seeds = [SeedLine(**line) for line in lines if line.pop("is") == "seed"]
    run("create_collection", "again", protocol="rag", corpus="coast", budget=90.0, seed=3, set=FEW)
    again = Collection.objects.get(slug="again")
    recreate_seeds(again, SimpleNamespace(seeds=seeds))
    values = ("key", "position", "fold", "payload", "stage__name", "seed_paragraphs__paragraph")
    told_again = [
        list(each.seeds.order_by("position").values_list(*values)) for each in (collection, again)
    ]
    assert told_again[0] == told_again[1]
    other = seeds[0].model_copy(update={"sha256": "of another text"})
    again.seeds.all().delete()
    with pytest.raises(LogError, match="lacks 1 of the 12 seeds of the log"):
        recreate_seeds(again, SimpleNamespace(seeds=[other, *seeds[1:]]))


def test_no_stage_is_expected_to_have_more_hits_than_it_costs_at_most(
    tmp_path: Path, settings: Any
) -> None:
    """Two HITs of natural questions bring six: two people each find them in four HITs, not six."""
    settings.HOME = tmp_path
    ingest(write_documents(tmp_path / "own"), "coast")
    chosen("few", 4)
    made = Collection.objects.get(slug="few")
    for name in ("natural", "question"):
        of_stage = made.seeds.filter(stage__name=name).order_by("position")
        for seed, fold in zip(of_stage, ("train", "train", "dev", "test"), strict=True):
            made.seeds.filter(pk=seed.pk).update(fold=fold)
    hits = {row.stage.name: row.hits for row in estimate(made)}
    assert hits == {"natural": 2, "question": 2, "find": 4, "reading": 2}
