"""The dataset card: what the files are, how they came to be, what was paid, what to beware of."""

import json
from collections.abc import Mapping, Sequence

from django.db.models import QuerySet

from annotation.decisions.counted_work import counted_work_of, excluded_workers
from annotation.release import articles, assignment_log, croissant, votes_table
from annotation.release.release_folder import SUMS
from annotation.reports.let_in import makers_let_in
from annotation.reports.outcomes import Outcomes
from annotation.reports.table import Table, markdown
from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import StageTable
from collector.protocols.revisions import revisions_of
from tasks.models import Answer, Question, ReaderHint, ReceiptState, Submission

FILE = "README.md"
MANIFEST = "manifest.json"


def card(
    collection: Collection,
    counts: Mapping[str, int],
    official: Sequence[str],
    tables: Sequence[Table],
    outcomes: Outcomes,
    withheld: Sequence[str] = (),
    beside: Mapping[str, str] | None = None,
) -> str:
    """Return the card in Markdown; synthetic work is named before anything else.

    counts: kept questions by split. official: names of the protocol's files. tables: the report's;
    one without columns only tells its requester what is still to do. withheld: splits whose answers
    are not published. beside: what further files hold, by name.
    """
    parts = [
        f"# {collection.title}\n",
        origin(collection, outcomes),
        description(collection, counts) + "\n",
        _files(official, withheld, beside or {}),
        "## How it was collected\n\n" + _method(collection, withheld),
        "## What is in it\n\n" + "\n".join(markdown(table) for table in tables if table.columns),
        "## Limitations\n\n" + _limitations(collection, outcomes),
        "## Licence\n\n" + articles.licence_text(collection),
        "## How to cite\n\n" + croissant.citation(collection) + "\n",
        "## Parameters\n\n" + _parameters(collection),
    ]
    return "\n".join(parts)


def description(collection: Collection, counts: Mapping[str, int]) -> str:
    """Return what the dataset is, in two sentences."""
    corpus = collection.corpus
    spread = ", ".join(f"{number:,} {split}" for split, number in counts.items())
    return (
        f"{parameters_of(collection).protocol.title}. {sum(counts.values()):,} questions "
        f"({spread}) about {corpus.name}, in the language {corpus.language!r}."
    )


def origin(collection: Collection, outcomes: Outcomes) -> str:
    """Return who made the questions and answers: people, simulated workers, or published files."""
    if collection.official_files.exists():
        files = "\n".join(
            f"* `{file.name}`, SHA-256 `{file.sha256}`" for file in collection.official_files.all()
        )
        return f"**Nothing here was collected: it was read from published files.**\n\n{files}\n"
    made = outcomes.questions + outcomes.votes
    simulated = outcomes.synthetic_questions + outcomes.synthetic_votes
    if not outcomes.simulated():
        return "All questions and answers were written by people.\n"
    added = (
        f" To {outcomes.mended_votes:,} of people's answers a part was added, which the column "
        "`synthetic_fields` of the votes names."
        if outcomes.mended_votes
        else ""
    )
    return (
        f"> **Simulated work.** {outcomes.synthetic_questions:,} of {outcomes.questions:,} "
        f"questions and {outcomes.synthetic_votes:,} of {outcomes.votes:,} answers "
        f"({100 * simulated / made:.0f} % of both) were made by simulated workers, not by people. "
        f"They show that the collection works; they are of no use for research.{added}\n"
    )


def _files(official: Sequence[str], withheld: Sequence[str], beside: Mapping[str, str]) -> str:
    described = {
        **dict.fromkeys(official, "in the official layout of the protocol"),
        votes_table.FILE: "every vote on every question, those left out of the dataset included",
        **beside,
        assignment_log.FILE: "who took which bundle of work, in which order (pseudonyms)",
        articles.FILE: "every article used, with the revision that was read",
        articles.LICENCE_FILE: "what you may do with all this",
        croissant.FILE: "this description for machines (Croissant 1.0)",
        MANIFEST: "parameters, counts, and the checksum of every file",
        SUMS: "checksums; check them with `sha256sum -c SHA256SUMS`",
    }
    lines = "".join(f"* `{name}`: {words}\n" for name, words in described.items())
    offsets = "Offsets are half-open, in Unicode code points.\n"
    return f"## Files\n\n{lines}\n{offsets}{_withheld(withheld)}"


def _withheld(splits: Sequence[str]) -> str:
    """Return what a reader must know of the splits without answers; blank where there is none."""
    if not splits:
        return ""
    names = " and ".join(f"`{name}`" for name in splits)
    return (
        f"\nThe answers of {names} are not published, nor anything else about these questions but "
        "what a system needs to answer them. Whoever collected the dataset keeps them and scores "
        "predictions. The votes and the tables of what is in it are without them.\n"
    )


def _method(collection: Collection, withheld: Sequence[str]) -> str:
    files = ", ".join(collection.corpus.source.splitlines())
    source = f" ({files})" if files else ""
    # From it everybody could draw the passages of the withheld questions again.
    seed = "" if withheld else f" Random seed {collection.random_seed}."
    ethics = f" Ethics protocol {collection.ethics_number}." if collection.ethics_number else ""
    rows = "".join(
        f"| {name} | {table.items_per_hit} | {_workers(table)} |\n"
        for name, table in parameters_of(collection).stages().items()
    )
    return (
        f"Protocol `{collection.protocol}`, version {collection.protocol_version}, over "
        f"{collection.corpus.name}{source}.{seed}{ethics}\n\n"
        f"| stage | items in a HIT | workers per item |\n| --- | ---: | --- |\n{rows}"
    )


def _workers(table: StageTable) -> str:
    redundancy = table.redundancy
    told = ", ".join(f"{fold} {number}" for fold, number in redundancy.by_fold().items())
    share = f"; {redundancy.people} for {redundancy.percent} % of the HITs, drawn by the seed"
    return told + share * bool(redundancy.percent)


def _limitations(collection: Collection, outcomes: Outcomes) -> str:
    waiting = outcomes.number("waiting")
    lines = [
        "* Questions that were left out are in the votes file alone, with the reason.",
        "* Active time is the time between two savings of a draft, of a pause at most two minutes; "
        "it is a lower bound of what people spent.",
    ]
    lines += _decided(collection)
    if waiting:
        lines.append(f"* Questions still waiting for answers at this release: {waiting:,}.")
    if not collection.corpus.licence_name:
        lines.append("* The corpus names no licence: ask its owner before you pass this on.")
    return "\n".join(lines) + "\n"


def _decided(collection: Collection) -> list[str]:
    """Return what was rejected and whose work was left out, in sentences."""
    work = Submission.objects.filter(lease__unit__stage__collection=collection)
    handed_in, lines = work.count(), []
    if handed_in:
        rejected = work.filter(state=ReceiptState.REJECTED).count()
        lines.append(
            f"* Of {handed_in:,} assignments handed in {rejected:,} were rejected and not paid. "
            "That alone leaves nothing out of the data."
        )
    makers, let_in = makers_let_in(collection)
    if let_in:
        lines.append(
            f"* {let_in:,} of the {makers:,} people whose work counts were let in without the "
            "qualification test, by a requester's decision."
        )
    lines += _read(work.filter(counted_work_of(collection, "lease__"), counts=True))
    out = excluded_workers(collection)
    if out:
        of = {"stage__collection": collection, "worker__in": out}
        lines.append(
            f"* Everything by {len(out):,} worker{'s' if len(out) > 1 else ''} was left out, by a "
            f"requester's decision: {Question.objects.filter(**of).count():,} questions and "
            f"{Answer.objects.filter(**of).count():,} answers."
        )
    return lines


def _read(work: QuerySet[Submission]) -> list[str]:
    """Return how often a reader was right from too little text, where it looked on."""
    hints = ReaderHint.objects.filter(lease__submission__in=work.filter(synthetic=False))
    told, kept = hints.count(), hints.filter(kept=True).count()
    if not told:
        return []
    return [
        f"* While questions were written a reader answered {told:,} of them from less text than "
        f"they were to need, and their writers were told; {kept:,} were handed in all the same. "
        "Nobody's pay depended on it."
    ]


def _parameters(collection: Collection) -> str:
    lines = "".join(
        f"* {each['on']}: `{each['key']}` from {json.dumps(each['old'])} to "
        f"{json.dumps(each['new'])}. {each['why']}\n"
        for each in changes(collection)
    )
    changed = f"\nChanged while it was collected, for what was posted later:\n\n{lines}"
    values = json.dumps(collection.parameters, indent=2, sort_keys=True)
    return f"```json\n{values}\n```\n" + (changed if lines else "")


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
