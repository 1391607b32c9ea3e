"""The header of a dataset card in YAML, as hubs of datasets and `datasets.load_dataset` read it."""

import re
from typing import Any

import yaml

from annotation.release import questions_table, votes_table
from annotation.release.articles import LICENCE_FILE
from annotation.release.facts import Facts
from collector.ingest.licences import contradictions, named
from collector.models import Corpus

# What the hub calls Creative Commons' licences; its list has no others of theirs.
CREATIVE = re.compile(r"creativecommons\.org/licenses/(by(?:-nc)?(?:-sa|-nd)?)/(\d\.\d)")
CREATIVE_KNOWN = {
    "by": ("2.0", "2.5", "3.0", "4.0"),
    "by-sa": ("3.0", "4.0"),
    "by-nc": ("2.0", "3.0", "4.0"),
    "by-nd": ("4.0",),
    "by-nc-nd": ("3.0", "4.0"),
    "by-nc-sa": ("2.0", "3.0", "4.0"),
}
ZERO = "creativecommons.org/publicdomain/zero/1.0"
SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"))
LARGEST = "1M<n<10M"


def header(facts: Facts) -> str:
    """Return the lines from one row of dashes to the other, ending in a line break."""
    n_kept = sum(facts.kept.values())
    value = {
        "pretty_name": facts.collection.title,
        "language": [facts.collection.corpus.language],
        **_licence(facts.collection.corpus),
        "annotations_creators": _creators(facts),
        "language_creators": _creators(facts),
        "task_categories": ["question-answering"],
        "size_categories": [next((name for limit, name in SIZES if n_kept < limit), LARGEST)],
        "source_datasets": [] if facts.is_imported() else ["original"],
        "tags": ["croissant"] + ["simulated"] * bool(facts.outcomes.simulated()),
        "configs": _configs(facts),
    }
    kept = {name: each for name, each in value.items() if each}
    text = yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, default_flow_style=False)
    return f"---\n{text}---\n"


def without_header(card: str) -> str:
    """Return a card as a person reads it."""
    _, dashes, rest = card.removeprefix("---\n").partition("\n---\n")
    return rest if card.startswith("---\n") and dashes else card


def _configs(facts: Facts) -> list[dict[str, Any]]:
    """Return the tables to load: the questions by split, and the votes."""
    splits = [
        {"split": questions_table.name_of(split), "path": questions_table.file_of(split)}
        for split in facts.tabled()
    ]
    # Without a name readers call the one split train, which holds votes on all of them.
    votes = {
        "config_name": "votes",
        "data_files": [{"split": "votes", "path": votes_table.FILE}],
    }
    questions = {"config_name": "questions", "default": True, "data_files": splits}
    return [questions, votes] if splits else [votes]


def _licence(corpus: Corpus) -> dict[str, str]:
    """Return the licence by the hub's own name for it, else by the corpus's, with any others."""
    if others := contradictions(corpus):
        names = ", ".join([corpus.licence_name, *others])
        return {"license": "other", "license_name": names, "license_link": LICENCE_FILE}
    found = CREATIVE.search(corpus.licence_url)
    if found and found[2] in CREATIVE_KNOWN[found[1]]:
        return {"license": f"cc-{found[1]}-{found[2]}"}
    if ZERO in corpus.licence_url:
        return {"license": "cc0-1.0"}
    if not named(corpus.licence_name):
        return {"license": "unknown"}
    return {"license": "other", "license_name": corpus.licence_name, "license_link": LICENCE_FILE}


def _creators(facts: Facts) -> list[str]:
    if facts.is_imported():
        return ["found"]
    people = [] if facts.is_simulated() else ["crowdsourced"]
    return people + ["machine-generated"] * bool(facts.outcomes.simulated())
