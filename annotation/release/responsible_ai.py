"""The properties of Croissant's Responsible-AI vocabulary 1.0 that a release can fill by itself."""

from collections.abc import Mapping, Sequence

from annotation.models import About
from annotation.release.facts import (
    Facts,
    bonuses,
    limits,
    origin,
    rejections,
    sample,
    split_rule,
    workers_told,
)
from annotation.release.worker_texts import versions_read
from annotation.splits.cross_validation import last_run
from annotation.tables.table import Table
from collector.ingest.licences import SEVERAL, contradictions, named
from collector.language_names import language_name
from collector.protocols.creation import parameters_of
from collector.protocols.parameters import StageTable

VOCABULARY = "http://mlcommons.org/croissant/RAI/1.0"
# Tables of the report that tell how far people agree.
AGREEMENT = ("label_agreement", "vote_agreement")
# Where what a requester says belongs: properties of several texts, and of one.
LISTS = {
    About.USES: "dataUseCases",
    About.LIMITS: "dataLimitations",
    About.BIASES: "dataBiases",
    About.PERSONAL: "personalSensitiveInformation",
    About.PEOPLE: "annotatorDemographics",
    About.MACHINES: "machineAnnotationTools",
}
TEXTS = {
    About.IMPACT: "dataSocialImpact",
    About.ETHICS: "dataCollection",
    About.UPKEEP: "dataReleaseMaintenancePlan",
    About.CONTACT: "dataReleaseMaintenancePlan",
}
PSEUDONYMS = (
    "Workers are named by pseudonyms that are the same within this dataset and lead to nobody; "
    "no release holds who they are."
)
PLATFORM = "Collector: its own pages for HITs, on a marketplace that is wire-compatible with MTurk"
FROZEN = (
    "A release is frozen and checksummed. A withdrawal or a correction makes a new release, which "
    "names the one it supersedes."
)


def properties(facts: Facts) -> dict[str, str | list[str]]:
    """Return what the run knows, by the property's name; what nothing is known of is left out."""
    collection = facts.collection
    known: Mapping[str, str | list[str]] = {
        "dataCollection": _collection(facts),
        "dataCollectionType": _type(facts),
        "dataCollectionRawData": _raw(facts),
        "dataCollectionMissingData": _missing(facts),
        "dataCollectionTimeframe": [
            f"{day:%Y-%m-%d}" for day in (facts.dates.began, facts.dates.ended) if day
        ],
        "dataPreprocessingProtocol": _preparation(facts),
        "dataAnnotationProtocol": _protocol(facts),
        "dataAnnotationPlatform": [] if facts.is_imported() else [PLATFORM],
        "dataAnnotationAnalysis": _analysis(facts.tables),
        "annotationsPerItem": _per_item(facts),
        "annotatorDemographics": [told] if (told := workers_told(collection)) else [],
        "machineAnnotationTools": _machines(facts),
        "dataLimitations": limits(facts),
        "personalSensitiveInformation": [] if facts.is_imported() else [PSEUDONYMS],
        "dataReleaseMaintenancePlan": FROZEN,
    }
    return {name: value for name, value in _with_said(known, facts).items() if value}


def _with_said(known: Mapping[str, str | list[str]], facts: Facts) -> dict[str, str | list[str]]:
    """Return what is known with what only the requester can say, behind it or by itself."""
    found = dict(known)
    for about, name in LISTS.items():
        found[name] = [*found.get(name, []), *([facts.said[about]] if about in facts.said else [])]
    for about, name in TEXTS.items():
        if about in facts.said:
            label = f"{About(about).label}: " if name in known else ""
            found[name] = f"{found.get(name, '')} {label}{facts.said[about]}".strip()
    return found


def workers_per_item(table: StageTable) -> str:
    """Return how many workers do an item of a stage, by its fold where folds differ."""
    redundancy = table.redundancy
    folds = redundancy.by_fold()
    told = ", ".join(f"{fold} {number}" for fold, number in folds.items())
    if len({*folds.values()}) == 1:
        told = str(*{*folds.values()})
    share = f"; {redundancy.people} for {redundancy.percent} % of the HITs, drawn by the seed"
    return told + share * bool(redundancy.percent)


def _collection(facts: Facts) -> str:
    """Return how it was collected and paid; who made it stands first."""
    pay = [] if facts.is_imported() else [*_pay(facts), rejections(facts.collection)]
    told = [origin(facts), *pay, bonuses(facts.collection)]
    return " ".join(each for each in told if each)


def _pay(facts: Facts) -> list[str]:
    """Return what each stage paid, in sentences."""
    found = [table for table in facts.tables if table.name == "pay"]
    told = []
    for table in found:
        for row in table.texts():
            of = dict(zip(table.columns, row, strict=True))
            if of["assignments"] == "0":
                continue
            hourly = of["hourly rate"]
            more = f", {hourly} an hour by the median time" if any(map(str.isdigit, hourly)) else ""
            told.append(f"The stage {of['stage']} paid {of['reward']} for an assignment{more}.")
    return told


def _type(facts: Facts) -> list[str]:
    """Return values that the vocabulary recommends."""
    if facts.is_imported():
        return ["Secondary Data analysis"]
    people = [] if facts.is_simulated() else ["Manual Human Curator"]
    return people + ["Software Collection"] * bool(facts.outcomes.simulated())


def _raw(facts: Facts) -> str:
    corpus = facts.collection.corpus
    source = ", ".join(corpus.source.splitlines())
    name = named(corpus.licence_name)
    licence = f", under {name}" if name else ""
    if corpus.licence_name == SEVERAL:
        licence = ", each document under its own licence"
    elif others := contradictions(corpus):
        licence += f", some documents under {', '.join(others)}"
    read = f", read from {source}" if source else ""
    return f"Text of {corpus.name} in {language_name(corpus.language)}{read}{licence}."


def _missing(facts: Facts) -> str:
    dropped = facts.outcomes.number("dropped")
    if not dropped:
        return ""
    return (
        f"{dropped:,} questions were left out of the dataset; they are in the votes, each with the "
        "reason."
    )


def _preparation(facts: Facts) -> list[str]:
    if facts.is_imported():
        return []
    drawn = (sample(facts.collection), split_rule(facts.collection))
    return [
        *(each for each in drawn if each),
        "Text was taken out of its markup; sentences and offsets are those of that text, in "
        "Unicode code points.",
        "Which questions are in the dataset was decided by rules on the answers of several people, "
        "or by a requester; every vote is released.",
    ]


def _protocol(facts: Facts) -> str:
    if facts.is_imported():
        return ""
    collection = facts.collection
    parameters = parameters_of(collection)
    stages = "; ".join(
        f"{name} (kind {table.kind}, {table.items_per_hit} items in a HIT)"
        for name, table in parameters.stages().items()
    )
    told = [
        f"{parameters.protocol.title}, version {collection.protocol_version}. Stages: {stages}.",
        "What is handed in is checked while it is written, by the protocol's own rules. Nobody "
        "answers or labels their own work.",
        versions_read(collection),
    ]
    return " ".join(each for each in told if each)


def _analysis(tables: Sequence[Table]) -> list[str]:
    """Return how far people agree, a sentence for each row of the report's tables of it."""
    told = []
    for table in tables:
        if table.name in AGREEMENT:
            for row in table.texts():
                pairs = zip(table.columns, row, strict=True)
                told.append(
                    f"{table.title}: {', '.join(f'{name} {cell}' for name, cell in pairs)}."
                )
    return told


def _per_item(facts: Facts) -> str:
    if facts.is_imported():
        return ""
    stages = parameters_of(facts.collection).stages()
    return "; ".join(f"{name}: {workers_per_item(table)}" for name, table in stages.items())


def _machines(facts: Facts) -> list[str]:
    """Return what software did or saw of the annotation; what only measures is no part of it."""
    told = []
    if facts.outcomes.simulated():
        told.append("Collector's simulated workers, in place of people: see the counts above.")
    run = last_run(facts.collection)
    if run is not None:
        told.append(f"{run.reader}: judged how hard questions are, which decides their split.")
    return told
