"""Writes the dataset card: the files, how they were collected, the pay, and the limitations."""

import json
import re
from collections.abc import Iterable
from typing import Any

import yaml

from annotation.models import About
from annotation.records.parquet_tables import Column
from annotation.records.withholding import CLOSED_NOTE, is_closed
from annotation.release import (
    articles,
    croissant,
    row_tables,
    write_log,
)
from annotation.release.articles import LICENCE_FILE
from annotation.release.croissant import PSEUDONYMS, workers_per_item
from annotation.release.facts import (
    Facts,
    bonuses,
    citation,
    consent_text,
    description,
    limits,
    origin,
    quoted,
    rejections,
    sample,
    split_rule,
    versions_read,
    workers_told,
)
from annotation.release.release_folder import SUMS
from annotation.tables import charts
from annotation.tables.charts import links_to
from annotation.tables.table import markdown
from collector.ingest.licences import contradictions, named
from collector.models import Collection, Corpus
from collector.protocols.creation import parameters_of, revisions_of
from tasks.pages.wording import fill_placeholders

# The Creative Commons licences that the hub has a name for, by kind and version.
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
FILE = "README.md"
MANIFEST = "manifest.json"
LONGEST_TEXT = 280
LONGEST_LIST = 3


def hub_header(facts: Facts) -> str:
    """Return the YAML header of the card, with both lines of dashes and a final line break."""
    n_kept = sum(facts.kept.values())
    creators = ["found"]
    if not facts.is_imported():
        people = [] if facts.is_simulated() else ["crowdsourced"]
        creators = people + ["machine-generated"] * bool(facts.outcomes.simulated())
    splits = [
        {"split": row_tables.name_of(split), "path": row_tables.file_of(split)}
        for split in facts.tabled()
    ]
    # Without this name, loaders call the only split train, although it has the votes on all splits.
    votes = {
        "config_name": "votes",
        "data_files": [{"split": "votes", "path": row_tables.VOTES_FILE}],
    }
    questions = {"config_name": "questions", "default": True, "data_files": splits}
    value = {
        "pretty_name": facts.collection.title,
        "language": [facts.collection.corpus.language],
        **_hub_licence(facts.collection.corpus),
        "annotations_creators": creators,
        # A copy: YAML would write the same list a second time as an anchor.
        "language_creators": [*creators],
        "task_categories": ["question-answering"],
        "size_categories": [next((name for limit, name in SIZES if n_kept < limit), LARGEST)],
        "source_datasets": [] if facts.is_imported() else ["original"],
        "tags": ["croissant"] + ["simulated"] * bool(facts.outcomes.simulated()),
        "configs": [questions, votes] if splits else [votes],
    }
    kept = {name: each for name, each in value.items() if each}
    text = yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, default_flow_style=False)
    return f"---\n{text}---\n"


def without_header(card: str) -> str:
    """Return a card without its YAML header, as people read it."""
    _, dashes, rest = card.removeprefix("---\n").partition("\n---\n")
    return rest if card.startswith("---\n") and dashes else card


def _hub_licence(corpus: Corpus) -> dict[str, str]:
    """Return the licence fields: the hub's own name if it has one, else the names in the corpus."""
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


def card(facts: Facts) -> str:
    """Return the card with its header; if work is simulated, the first paragraph says so."""
    collection = facts.collection
    made_by = origin(facts)
    if facts.is_imported():
        files = "\n".join(
            f"* `{file.name}`, SHA-256 `{file.sha256}`" for file in collection.official_files.all()
        )
        made_by = f"**{made_by}**\n\n{files}"
    elif facts.outcomes.simulated():
        made_by = f"> **Simulated work.** {made_by}"
    tables = [f"{markdown(table)}\n{links_to(table)}" for table in facts.tables if table.rows]
    examples = [
        f"### {split}\n\n```json\n{json.dumps(shortened(row), ensure_ascii=False, indent=2)}\n```\n"
        for split, row in facts.examples.items()
    ]
    if examples:
        short = "The first of each split; long texts and lists are cut short here.\n"
        examples = ["## An example of each split\n", short, *examples]
    said = [
        f"### {About(about).label}\n\n{text}\n"
        for about, text in facts.said.items()
        if about != About.AUTHORS
    ]
    if said:
        said = [f"## In the words of {collection.requester_name or 'its makers'}\n", *said]
    lines = "".join(
        f"* {each['on']}: `{each['key']}` from {json.dumps(each['old'])} to "
        f"{json.dumps(each['new'])}. {each['why']}\n"
        for each in changes(collection)
    )
    changed = f"\nChanged while it was collected, for what was posted later:\n\n{lines}"
    values = json.dumps(collection.parameters, indent=2, sort_keys=True)
    parts = [
        hub_header(facts),
        f"# {collection.title}\n",
        f"{made_by}\n",
        description(facts) + "\n",
        CLOSED_NOTE if is_closed(collection.corpus) else "",
        _files(facts),
        _fields(facts),
        *examples,
        "## How it was collected\n\n" + _method(facts),
        _ethics(facts),
        "## What is in it\n\n" + "\n".join(tables),
        "## Limitations\n\n" + _listed(limits(facts)),
        *said,
        "## Licence\n\n" + articles.licence_text(collection),
        f"## How to cite\n\n```bibtex\n{citation(facts)}\n```\n",
        f"## Parameters\n\n```json\n{values}\n```\n{changed if lines else ''}",
    ]
    return "\n".join(part for part in parts if part)


def shortened(value: Any) -> Any:
    """Return an example to read: long texts and lists in it are cut."""
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return f"{value[:LONGEST_TEXT]} …"
    if isinstance(value, list):
        more = [f"… {len(value) - LONGEST_LIST} more"] if len(value) > LONGEST_LIST else []
        return [shortened(one) for one in value[:LONGEST_LIST]] + more
    if isinstance(value, dict):
        return {name: shortened(one) for name, one in value.items()}
    return value


def _files(facts: Facts) -> str:
    described = {
        **facts.official,
        **{
            row_tables.file_of(split): f"the questions of {split}, typed, for programs"
            for split in facts.tabled()
        },
        row_tables.VOTES_FILE: "every vote on every question, those left out of the dataset "
        "included",
        **facts.beside,
        write_log.ASSIGNMENTS_FILE: "who took which bundle of work, in which order (pseudonyms)",
        f"{charts.FOLDER}/": "each table below as CSV, its shares drawn with 95 % intervals",
        articles.FILE: articles.attributed(facts.collection.corpus),
        articles.LICENCE_FILE: "what you may do with all this",
        croissant.FILE: "this description for machines (Croissant 1.1)",
        MANIFEST: f"parameters, counts, and the checksum of every file but itself and `{SUMS}`",
        SUMS: f"the checksum of every file but itself; `sha256sum -c {SUMS}` checks them",
    }
    lines = "".join(f"* `{name}`: {words}\n" for name, words in described.items())
    load = (
        "`datasets.load_dataset(FOLDER)` loads the questions of every split, typed; "
        '`datasets.load_dataset(FOLDER, "votes")` the votes, on all splits, in one table.\n'
    )
    offsets = "Offsets are half-open, in Unicode code points.\n"
    withheld = ""
    if facts.secret:
        names = " and ".join(f"`{name}`" for name in facts.secret)
        withheld = (
            f"\nThe answers of {names} are not published, nor anything else about these questions "
            "but what a system needs to answer them. Whoever collected the dataset keeps them and "
            "scores predictions. The votes and the tables of what is in it are without them.\n"
        )
    return f"## Files\n\n{lines}\n{load}\n{offsets}{withheld}"


def _fields(facts: Facts) -> str:
    lines = "".join(
        _row(name, column)
        + "".join(_row(f"{name}.{part}", each) for part, each in column.parts.items())
        for name, column in facts.columns.items()
    )
    votes = "".join(_row(name, column) for name, column in row_tables.VOTE_COLUMNS.items())
    head = "| field | type | what it is |\n| --- | --- | --- |\n"
    return (
        f"## Fields\n\nOf each question:\n\n{head}{lines}\n"
        f"Of each vote, in `{row_tables.VOTES_FILE}`, spans with the same parts:\n\n{head}{votes}"
    )


def _row(name: str, column: Column) -> str:
    kind = "record" if column.parts else column.kind
    return f"| `{name}` | {f'list of {kind}s' if column.is_list else kind} | {column.about} |\n"


def _method(facts: Facts) -> str:
    """Return how it was collected, with a table of what the HITs of each stage say."""
    collection = facts.collection
    files = ", ".join(collection.corpus.source.splitlines())
    source = f" ({files})" if files else ""
    protocol = (
        f"Protocol `{collection.protocol}`, version {collection.protocol_version}, over "
        f"{collection.corpus.name}{source}."
    )
    if facts.is_imported():
        return f"{protocol}\n"
    # With the seed, anybody could draw the passages of the withheld questions again.
    seed = "" if facts.secret else f"Random seed {collection.random_seed}."
    began, ended = facts.dates.began, facts.dates.ended
    people = [workers_told(collection), versions_read(collection)]
    if began and ended:
        people.append(f"People worked on it from {began:%Y-%m-%d} to {ended:%Y-%m-%d}.")
    first = [protocol, sample(collection), seed, split_rule(collection)]
    parameters = parameters_of(collection)
    table = (
        "| stage | what its HITs say | items in a HIT | workers per item |\n"
        "| --- | --- | ---: | --- |\n"
    )
    for name, stage in parameters.stages().items():
        words = fill_placeholders(stage.description, collection, parameters, name)
        cell = " ".join(words.replace("|", "\\|").split())
        table += f"| {name} | {cell} | {stage.items_per_hit} | {workers_per_item(stage)} |\n"
    paragraphs = [" ".join(filter(None, each)) for each in (first, people)]
    paragraphs = [f"{each}\n" if each else "" for each in paragraphs]
    return "\n".join(filter(None, [paragraphs[0], table, paragraphs[1]]))


def _ethics(facts: Facts) -> str:
    """Return the section on consent, pay, rejected work and bonuses."""
    if facts.is_imported():
        return ""
    collection = facts.collection
    told = [PSEUDONYMS]
    if collection.ethics_number:
        told.append(f"Ethics protocol {collection.ethics_number}.")
    told += [each for each in (rejections(collection), bonuses(collection)) if each]
    consent = ""
    if asked := consent_text(collection):
        # Numbers that differ by HIT stay in braces.
        consent = (
            f"\nWhoever worked on it agreed to these words (version {asked.version}; what stands "
            f"in braces each HIT has filled in):\n\n{quoted(collection, asked)}"
        )
    return f"## Consent, pay and ethics\n\n{_listed(told)}{consent}"


def _listed(sentences: Iterable[str]) -> str:
    return "".join(f"* {sentence}\n" for sentence in sentences)


def changes(collection: Collection) -> list[dict[str, object]]:
    """Return every change of a parameter, the oldest first, without who made it."""
    return [
        {
            "key": row.key,
            "old": row.old,
            "new": row.new,
            "on": f"{row.at:%Y-%m-%d}",
            "why": row.why,
        }
        for row in revisions_of(collection)
    ]
