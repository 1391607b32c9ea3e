"""Walks the sample corpus through whole collections by the commands a requester would type."""

import json
import tomllib
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import OutputWrapper

from collector.models import Collection, CollectionState, Corpus
from collector.protocols.creation import parameters_of
from collector.serving.one_process import make_requester

FOLDER = Path(settings.BASE_DIR) / "deploy" / "sample"


def read_plan() -> dict[str, dict[str, Any]]:
    """Return demo.toml: the sample corpus and its collections, each with what it collects from."""
    found: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "demo.toml").read_text("utf-8"))
    for chosen in (found["finished"], found["half_done"], *found["demos"].values()):
        chosen.setdefault("corpus", found["corpus"])
        chosen.setdefault("contact", found["requester"]["contact"])
    return found


def demos(chosen: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the collections that demos walk through, by protocol."""
    return {chosen["finished"]["protocol"]: chosen["finished"], **chosen["demos"]}


def is_sample(collection: Collection) -> bool:
    """Return whether a first start walks the collection to a release by itself."""
    return collection.slug == read_plan()["finished"]["slug"]


def read_corpus(corpus: dict[str, Any], **options: Any) -> None:
    """Read a corpus of the sample in, unless it has been read before."""
    if Corpus.objects.filter(slug=corpus["slug"], state="ready").exists():
        return
    call_command(
        corpus["read_by"],
        *(str(path) for name in corpus["files"] for path in sorted(FOLDER.glob(name))),
        corpus=corpus["slug"],
        name=corpus["name"],
        licence=corpus["licence"],
        # So little is read before a second process has started.
        **{"processes": 1, **options},
    )


def open_collection(chosen: dict[str, Any], **options: Any) -> None:
    """Create and publish one collection on its corpus; what is done already is left."""
    slug = chosen["slug"]
    if not Collection.objects.filter(slug=slug).exists():
        call_command(
            "create_collection",
            slug,
            protocol=chosen["protocol"],
            corpus=chosen["corpus"]["slug"],
            title=chosen["title"],
            contact=chosen["contact"],
            budget=chosen["budget"],
            seed=chosen["seed"],
            set=[
                f"{key}={json.dumps(value)}"
                for key, value in list(chosen.get("parameters", {}).items())
            ],
            **options,
        )
    collection = Collection.objects.get(slug=slug)
    if not collection.seeds.exists():
        call_command("select_seeds", slug, count=chosen["seeds"], **options)
    if collection.state == CollectionState.DRAFT:
        call_command("estimate", slug, **options)
        call_command("publish", slug, **options)


def finish_collection(chosen: dict[str, Any], out: Path, **options: Any) -> None:
    """Let simulated workers do every HIT through the real pages, then decide, split, release."""
    slug = chosen["slug"]
    _simulate(chosen, inspect=True, **options)
    call_command("validate_answers", slug, **options)
    judged = hasattr(parameters_of(Collection.objects.get(slug=slug)), "difficulty")
    if judged:
        call_command("judge_difficulty", slug, as_multi_hop=True, **options)
    call_command("make_splits", slug, **options)
    if judged:
        # What is read a second time is known only now.
        _simulate(chosen, **options)
    call_command("export_dataset", slug, out=out, **options)


def show_release(chosen: dict[str, Any], release: Path, stdout: OutputWrapper) -> None:
    """Do what a requester types with the release at hand, where there is anything."""
    for step in chosen.get("afterwards", []):
        stdout.write(f"\n{step['says']}")
        words = (word.format(release=release, home=settings.HOME) for word in step["command"])
        call_command(*words, stdout=stdout)


def _simulate(chosen: dict[str, Any], **options: Any) -> None:
    call_command(
        "simulate", chosen["slug"], workers=chosen["workers"], seed=chosen["seed"], **options
    )


def prepare_sample(**options: Any) -> None:
    """Make what a visitor finds: a release to download, submissions to review, HITs to take.

    Last the corpora that other protocols ask about, to begin a collection of.
    """
    chosen = read_plan()
    finished, half_done = chosen["finished"], chosen["half_done"]
    read_corpus(chosen["corpus"], **options)
    if settings.EMBEDDED and not Collection.objects.exists():
        # What somebody has written since, for HITs of their own, stays.
        make_requester(**chosen["requester"])
    open_collection(half_done, **options)
    half = Collection.objects.get(slug=half_done["slug"])
    if not half.stages.filter(units__submitted__gt=0).exists():
        _simulate(half_done, **options)
    out = settings.HOME / "releases" / finished["slug"]
    if not out.exists():
        open_collection(finished, **options)
        finish_collection(finished, out, **options)
    for demo in chosen["demos"].values():
        read_corpus(demo["corpus"], **options)
