"""What a release knows of itself, for its card and its metadata: facts, statements, texts read."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import Max, Min, Q, QuerySet, Sum

from annotation.decisions.counted_work import counted_work_of, excluded_workers
from annotation.models import About, Release, Statement
from annotation.records.parquet_tables import Column
from annotation.reports.collection import Outcomes, makers_let_in
from annotation.tables.table import Table
from collector.code_points import CodePoints
from collector.ingest.documents.blocks import losses_told
from collector.ingest.licences import named
from collector.language_names import language_name
from collector.models import Collection, CollectionText
from collector.protocols.creation import parameters_of
from collector.protocols.loading import get_protocol
from collector.seeds.candidate import SPLITS
from common.actions import ActionError
from tasks.models import (
    Answer,
    Lease,
    Payment,
    PaymentKind,
    PaymentState,
    Question,
    ReaderHint,
    ReceiptState,
    Submission,
)
from tasks.pages.wording import fill_placeholders, price

LONGEST_STATEMENT = 4_000
# What each is for, as the form asks it.
STATEMENT_HELP: dict[str, str] = {
    About.AUTHORS: "Who is to be cited, one a line, as “Lovelace, Ada”; else the requester is.",
    About.CONTACT: "Where readers of the dataset can write to; it is published.",
    About.PAGE: "The address of a page or paper about the dataset.",
    About.USES: "What the dataset is made for: training, testing, which systems, which question.",
    About.LIMITS: "What it does not show, and what nobody should use it for.",
    About.BIASES: "Whose view it takes: topics, sources, language, the people who wrote.",
    About.IMPACT: "Who may gain or be harmed by what is built with it.",
    About.PERSONAL: "Whether texts or questions tell of living people, and what you did about it.",
    About.PEOPLE: "How they were found, and what you know of them as a group: languages, places.",
    About.ETHICS: "Which board looked at it and what it decided, or why none had to.",
    About.MACHINES: "Whether workers could use machines to write, and how you looked for it.",
    About.UPKEEP: "Who mends mistakes, how long, and where they are told.",
}
INSTRUCTIONS_FILE = "instructions.md"
ABOUT_INSTRUCTIONS = "the instructions of each stage, in every version that somebody worked by"
INSTRUCTIONS_HEAD = (
    "# What workers read\n\n"
    "The instructions of each stage, in every version that somebody worked by. Numbers are those\n"
    "of the last settings; what stands in braces each HIT has filled in. What workers agreed to\n"
    "is in the README.\n"
)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# What BibTeX or LaTeX would read as more than a character.
SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
ESCAPES = str.maketrans(SPECIAL)


@dataclass(frozen=True)
class Dates:
    """When the dataset was first released, and when people worked on it, from one day to another.

    began, ended: None where nobody did.
    """

    published: date
    began: date | None
    ended: date | None


@dataclass(frozen=True)
class Facts:
    """What is told of a release.

    kept: questions by split. official, beside: what the protocol's files and further ones hold,
    by name. tables: the report's; one without rows only tells its requester what is still to do.
    secret: splits whose answers are not published. columns: of the files of questions. examples:
    the first row of each split that has one. said: what its requester says of it.
    """

    collection: Collection
    outcomes: Outcomes
    dates: Dates
    kept: Mapping[str, int] = field(default_factory=dict)
    official: Mapping[str, str] = field(default_factory=dict)
    tables: Sequence[Table] = ()
    secret: Sequence[str] = ()
    beside: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, Column] = field(default_factory=dict)
    examples: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)

    def tabled(self) -> dict[str, int]:
        """Return how many questions are in each split that has any, and so a file for programs."""
        return {split: number for split, number in self.kept.items() if split in self.examples}

    def is_imported(self) -> bool:
        """Return whether nothing was collected: it was read from published files."""
        return self.collection.official_files.exists()

    def is_simulated(self) -> bool:
        """Return whether no question and no answer is by a person."""
        counts = self.outcomes
        made = counts.questions + counts.votes
        return bool(made) and made == counts.synthetic_questions + counts.synthetic_votes


def dates_of(collection: Collection, now: datetime) -> Dates:
    """Return the dates of a release made now; the first release of the collection was published."""
    first = Release.objects.filter(collection=collection).order_by("number").first()
    work = _handed_in(collection).filter(synthetic=False)
    of_people = work.aggregate(began=Min("received_at"), ended=Max("received_at"))
    began, ended = of_people["began"], of_people["ended"]
    return Dates(
        published=(first.created_at if first else now).date(),
        began=began.date() if began else None,
        ended=ended.date() if ended else None,
    )


def origin(facts: Facts) -> str:
    """Return who made the questions and answers: people, simulated workers, or published files."""
    counts = facts.outcomes
    if facts.is_imported():
        return "Nothing here was collected: it was read from published files."
    if not counts.simulated():
        return "All questions and answers were written by people."
    made = counts.questions + counts.votes
    simulated = counts.synthetic_questions + counts.synthetic_votes
    added = (
        f" To {counts.mended_votes:,} of people's answers a part was added, which the column "
        "`synthetic_fields` of the votes names."
        if counts.mended_votes
        else ""
    )
    return (
        f"{counts.synthetic_questions:,} of {counts.questions:,} "
        f"questions and {counts.synthetic_votes:,} of {counts.votes:,} answers "
        f"({100 * simulated / made:.0f} % of both) were made by simulated workers, not by people. "
        f"They show that the collection works; they are of no use for research.{added}"
    )


def description(facts: Facts) -> str:
    """Return what the dataset is, in two sentences."""
    collection, kept = facts.collection, facts.kept
    spread = ", ".join(f"{number:,} {split}" for split, number in kept.items())
    return (
        f"{parameters_of(collection).protocol.title}. {sum(kept.values()):,} questions "
        f"({spread}) about {collection.corpus.name}, in "
        f"{language_name(collection.corpus.language)}."
    )


def sample(collection: Collection) -> str:
    """Return of how many articles the corpus is and how much of it was drawn; blank if unknown."""
    of, n_seeds = collection.corpus.counts.get("articles"), collection.seeds.count()
    if not of or not n_seeds:
        return ""
    drawn = f"{n_seeds:,} seed{'s' if n_seeds > 1 else ''}"
    return (
        f"It has {of:,} articles; {drawn} to begin with were chosen by the rules under Parameters."
    )


def split_rule(collection: Collection) -> str:
    """Return how questions came into their splits; blank where the protocol does not say."""
    return get_protocol(collection.protocol).part(SPLITS).RULE


def workers_told(collection: Collection) -> str:
    """Return how many people and how many simulated workers handed in work; blank for none."""
    work = _handed_in(collection).order_by()
    people, simulated = (
        work.filter(synthetic=synthetic).values("lease__worker").distinct().count()
        for synthetic in (False, True)
    )
    told = [f"{people:,} {'person' if people == 1 else 'people'}"] if people else []
    if simulated:
        told.append(f"{simulated:,} simulated worker{'s' if simulated > 1 else ''}")
    return f"Work was handed in by {' and '.join(told)}." if told else ""


def rejections(collection: Collection) -> str:
    """Return how much work was rejected; blank where none was handed in."""
    work = _handed_in(collection)
    handed_in = work.count()
    if not handed_in:
        return ""
    rejected = work.filter(state=ReceiptState.REJECTED).count()
    return (
        f"Of {handed_in:,} assignments handed in {rejected:,} were rejected and not paid. "
        "That alone leaves nothing out of the data."
    )


def bonuses(collection: Collection) -> str:
    """Return what was paid beside rewards; blank where no work was handed in."""
    if not _handed_in(collection).exists():
        return ""
    paid = Payment.objects.filter(
        collection=collection, kind=PaymentKind.BONUS, lease__submission__isnull=False
    ).exclude(state=PaymentState.WITHHELD)
    cents = paid.aggregate(cents=Sum("amount_cents"))["cents"]
    if not cents:
        return "No bonus was paid."
    people = paid.order_by().values("worker").distinct().count()
    return (
        f"Bonuses of {price(cents, parameters_of(collection))} in all were paid to {people:,} "
        f"worker{'s' if people > 1 else ''}, beside the rewards."
    )


def limits(facts: Facts) -> list[str]:
    """Return what a reader of the data should beware of, in sentences."""
    collection, waiting = facts.collection, facts.outcomes.number("waiting")
    told = []
    if facts.outcomes.number("dropped"):
        told.append("Questions that were left out are in the votes file alone, with the reason.")
    if not facts.is_imported():
        told.append(
            "Active time is the time between two savings of a draft, of a pause at most two "
            "minutes; it is a lower bound of what people spent."
        )
    told += left_out(collection)
    counts = collection.corpus.counts
    if losses := losses_told(counts.get("characters", 0), counts.get("left_out", {})):
        told.append(f"When the documents were read, {losses} was left out.")
    if waiting:
        told.append(f"Questions still waiting for answers at this release: {waiting:,}.")
    if not named(collection.corpus.licence_name):
        told.append("The corpus names no licence: ask its owner before you pass this on.")
    return told


def _handed_in(collection: Collection) -> "QuerySet[Submission]":
    return Submission.objects.filter(lease__unit__stage__collection=collection)


def left_out(collection: Collection) -> list[str]:
    """Return what a reader was right about too early, and whose work was left out."""
    work = _handed_in(collection).filter(counted_work_of(collection, "lease__"), counts=True)
    hints = ReaderHint.objects.filter(lease__submission__in=work.filter(synthetic=False))
    told = []
    if n_hints := hints.count():
        n_kept = hints.filter(kept=True).count()
        told.append(
            f"While questions were written a reader answered {n_hints:,} of them from less text "
            f"than they were to need, and their writers were told; {n_kept:,} were handed in all "
            "the same. Nobody's pay depended on it."
        )
    makers, let_in = makers_let_in(collection)
    if let_in:
        told.append(
            f"{let_in:,} of the {makers:,} people whose work counts were let in without "
            "passing the qualification test, by a requester's decision."
        )
    out = excluded_workers(collection)
    if out:
        of = Q(stage__collection=collection, worker__in=out)
        told.append(
            f"Everything by {len(out):,} worker{'s' if len(out) > 1 else ''} was left out, by a "
            f"requester's decision: {Question.objects.filter(of).count():,} questions and "
            f"{Answer.objects.filter(of).count():,} answers."
        )
    return told


def statements_of(collection: Collection) -> dict[str, str]:
    """Return what holds now, by its name, in the order of the form, without what is not said."""
    rows = Statement.objects.filter(collection=collection)
    latest = dict(rows.values_list("about", "text"))
    return {about: text for about in About.values if (text := latest.get(about, ""))}


def not_said(told: Mapping[str, str]) -> list[str]:
    """Return the names, for people, of what is still to be said."""
    return [str(About(about).label) for about in About.values if about not in told]


def authors_of(told: Mapping[str, str]) -> list[str]:
    """Return the authors as they are cited."""
    lines = (line.strip() for line in told.get(About.AUTHORS, "").splitlines())
    return [line for line in lines if line]


@transaction.atomic
def do_say(collection: Collection, wanted: Mapping[str, str], by: str, now: datetime) -> list[str]:
    """Keep what is said otherwise than before; return the names of what changed.

    An empty text takes back what was said. Raises ActionError for a name that is not asked, a text
    that is too long, or an address that is none.
    """
    Collection.objects.select_for_update().get(pk=collection.pk)
    texts = {about: "\n".join(text.split("\r\n")).strip() for about, text in wanted.items()}
    problems = [problem for about, text in texts.items() if (problem := problem_of(about, text))]
    if problems:
        raise ActionError(" ".join(problems))
    before = statements_of(collection)
    changed = [about for about, text in texts.items() if text != before.get(about, "")]
    Statement.objects.bulk_create(
        Statement(collection=collection, about=about, text=texts[about], by=by, at=now)
        for about in changed
    )
    return changed


def problem_of(about: str, text: str) -> str:
    """Return what is wrong with a text, in a sentence; blank where nothing is."""
    if about not in About.values:
        return f"Nothing called {about!r} is asked: say one of {', '.join(About.values)}."
    label = About(about).label
    if len(text) > LONGEST_STATEMENT:
        return f"{label}: {len(text):,} characters are too many; {LONGEST_STATEMENT:,} can be kept."
    if about == About.PAGE and text:
        try:
            parts = urlsplit(text)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.netloc or set(text) & set(" {}"):
            return f"{label}: give an address that begins with https:// or http://."
    if about in (About.CONTACT, About.PAGE) and "\n" in text:
        return f"{label}: write it on one line."
    return ""


def instructions_lines(collection: Collection) -> Iterator[bytes]:
    """Yield the file of all instructions that were read, in pieces; nothing where none were."""
    for place, text in enumerate(_texts_read(collection, "instructions")):
        if not place:
            yield INSTRUCTIONS_HEAD.encode()
        told = quoted(collection, text, stage=text.name)
        yield f"\n## {text.name}, version {text.version}\n\n{told}".encode()


def versions_read(collection: Collection) -> str:
    """Return which versions of their instructions workers have seen, by stage; blank for none."""
    versions: dict[str, list[int]] = {}
    for text in _texts_read(collection, "instructions"):
        versions.setdefault(text.name, []).append(text.version)
    told = "; ".join(f"{name} {', '.join(map(str, each))}" for name, each in versions.items())
    return f"Versions of the instructions that workers read: {told}." if told else ""


def consent_text(collection: Collection) -> CollectionText | None:
    """Return the latest words that workers consented to, None where nobody was asked."""
    return _texts_read(collection, "consent_text").last()


def quoted(collection: Collection, text: CollectionText, stage: str = "") -> str:
    """Return a text as a quotation in Markdown; numbers that differ by HIT stay in braces."""
    words = COMMENT.sub("", text.markdown)
    filled = fill_placeholders(words, collection, parameters_of(collection), stage)
    return "".join(f"> {line}".rstrip() + "\n" for line in filled.strip().splitlines())


def _texts_read(collection: Collection, field: str) -> "QuerySet[CollectionText]":
    """Return the texts that a lease names in this field, by name and version."""
    named = Lease.objects.filter(unit__stage__collection=collection, **{f"{field}__isnull": False})
    texts = CollectionText.objects.filter(pk__in=named.order_by().values(field))
    return texts.order_by(CodePoints("name"), "version")


def citation(facts: Facts) -> str:
    """Return the entry for BibTeX; without authors the requester's name stands for them."""
    collection = facts.collection
    name = collection.requester_name.translate(ESCAPES)
    who = " and ".join(author.translate(ESCAPES) for author in authors_of(facts.said))
    fields = {
        "title": "{" + collection.title.translate(ESCAPES) + "}",
        "author": who or ("{" + name + "}" if name else ""),
        "year": f"{facts.dates.published:%Y}",
        "note": (
            f"Questions and answers about {collection.corpus.name}, collected with the protocol "
            f"{collection.protocol}, version {collection.protocol_version}"
        ).translate(ESCAPES),
        "url": facts.said.get(About.PAGE, ""),
    }
    lines = [f"  {field} = {{{value}}}" for field, value in fields.items() if value]
    return f"@misc{{{collection.slug},\n" + ",\n".join(lines) + "\n}"
