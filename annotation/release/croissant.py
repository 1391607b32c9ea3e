"""Croissant 1.1 metadata: files with checksums, record sets, and the Responsible-AI vocabulary."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.models import About
from annotation.records.parquet_tables import BOOLEAN, INTEGER, TEXT, Column
from annotation.release import row_tables
from annotation.release.articles import licences_of_documents
from annotation.release.facts import (
    Facts,
    authors_of,
    bonuses,
    citation,
    description,
    limits,
    origin,
    rejections,
    sample,
    split_rule,
    versions_read,
    workers_told,
)
from annotation.splits.cross_validation import last_run
from annotation.tables.table import Table
from collector.ingest.licences import ADDRESSES, SEVERAL, UNKNOWN, contradictions, named
from collector.language_names import language_name
from collector.models import Corpus
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
VERSION = "http://mlcommons.org/croissant/1.1"
FILE = "croissant.json"
# As the format's specification asks of every description.
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **{
        name: f"cr:{name}"
        for name in (
            "arrayShape",
            "citeAs",
            "column",
            "containedIn",
            "equivalentProperty",
            "extract",
            "field",
            "fileObject",
            "fileProperty",
            "fileSet",
            "format",
            "includes",
            "isArray",
            "isLiveDataset",
            "jsonPath",
            "key",
            "md5",
            "parentField",
            "path",
            "recordSet",
            "references",
            "regex",
            "repeated",
            "replace",
            "samplingRate",
            "separator",
            "source",
            "subField",
            "transform",
        )
    },
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}
FORMATS = {
    ".json": "application/json",
    ".jsonl": "application/jsonlines",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".md": "text/markdown",
    ".parquet": "application/x-parquet",
    ".svg": "image/svg+xml",
}
PLAIN = "text/plain"
TYPES = {TEXT: "sc:Text", INTEGER: "sc:Integer", BOOLEAN: "sc:Boolean"}
# What a split is for, by how its name begins.
SPLITS = {"train": "cr:TrainingSplit", "dev": "cr:ValidationSplit", "test": "cr:TestSplit"}
Json = dict[str, Any]


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


def metadata(facts: Facts, digests: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Return the description of the release's files, by name with "sha256" and "bytes"."""
    collection, corpus = facts.collection, facts.collection.corpus
    marked = f"{origin(facts)} " if facts.outcomes.simulated() or facts.is_imported() else ""
    authors = [{"@type": "sc:Person", "name": name} for name in authors_of(facts.said)]
    splits = [
        _table(
            row_tables.name_of(split),
            row_tables.file_of(split),
            f"The questions of the split {split}: {number:,}.",
            facts.columns,
        )
        for split, number in facts.tabled().items()
    ]
    votes = _table("votes", row_tables.VOTES_FILE, row_tables.VOTES_ABOUT, row_tables.VOTE_COLUMNS)
    sums = "".join(f"{name} {entry['sha256']}\n" for name, entry in digests.items())
    value = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [VERSION, VOCABULARY],
        "name": collection.slug,
        "version": f"1.0.0+{hashlib.sha256(sums.encode()).hexdigest()[:12]}",
        "datePublished": f"{facts.dates.published:%Y-%m-%d}",
        "description": marked + description(facts),
        "inLanguage": corpus.language,
        "creator": (
            authors or {"@type": "sc:Organization", "name": facts.collection.requester_name}
        ),
        "publisher": {"@type": "sc:Organization", "name": collection.requester_name},
        "citeAs": citation(facts),
        "license": _licences(corpus),
        **{f"rai:{name}": told for name, told in properties(facts).items()},
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "contentUrl": name,
                "contentSize": f"{entry['bytes']} B",
                "encodingFormat": FORMATS.get("." + name.rpartition(".")[2], PLAIN),
                "sha256": entry["sha256"],
            }
            for name, entry in digests.items()
        ],
        "recordSet": [*([_enumeration(facts)] if splits else []), *splits, votes],
    }
    if About.PAGE in facts.said:
        value["url"] = facts.said[About.PAGE]
    if corpus.base_url:
        value["isBasedOn"] = corpus.base_url
    return json.dumps(value, ensure_ascii=False, indent=2).encode() + b"\n"


def _licences(corpus: Corpus) -> list[str] | str:
    """Return the address of the licence, or its name; of each where documents have their own."""
    if corpus.licence_name == SEVERAL:
        return [ADDRESSES.get(name, name) for name in licences_of_documents(corpus)]
    said = corpus.licence_url or corpus.licence_name or UNKNOWN
    others = [ADDRESSES.get(name, name) for name in contradictions(corpus)]
    return [said, *others] if others else said


def _enumeration(facts: Facts) -> Json:
    """Return the record set that says which splits there are, and what each is for."""
    name, url = "splits/name", "splits/url"
    return {
        "@type": "cr:RecordSet",
        "@id": "splits",
        "name": "splits",
        "dataType": "cr:Split",
        "key": {"@id": name},
        "field": [
            {"@type": "cr:Field", "@id": name, "name": "name", "dataType": "sc:Text"},
            {"@type": "cr:Field", "@id": url, "name": "url", "dataType": ["sc:URL", "cr:Split"]},
        ],
        "data": [
            {
                name: split,
                url: next(
                    (about for begin, about in SPLITS.items() if split.startswith(begin)),
                    "cr:Split",
                ),
            }
            for split in facts.tabled()
        ],
    }


def _table(name: str, file: str, about: str, columns: Mapping[str, Column]) -> Json:
    """Return a Parquet file as a record set."""
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": about,
        **({"key": {"@id": f"{name}/id"}} if "id" in columns else {}),
        "field": [_field(name, file, column, each) for column, each in columns.items()],
    }


def _field(table: str, file: str, name: str, column: Column) -> Json:
    source = {"fileObject": {"@id": file}, "extract": {"column": name}}
    field = _of_column(f"{table}/{name}", name, column, source)
    if column.parts:
        field["subField"] = [
            _of_column(
                f"{table}/{name}/{part}",
                part,
                each,
                {**source, "transform": {"jsonPath": f"$.{part}"}},
            )
            for part, each in column.parts.items()
        ]
    if name == "split" and table != "votes":
        field["references"] = {"field": {"@id": "splits/name"}}
    return field


def _of_column(path: str, name: str, column: Column, source: Json) -> Json:
    """Return a field, or a part of one, without its own parts."""
    return {
        "@type": "cr:Field",
        "@id": path,
        "name": name,
        "description": column.about,
        **({} if column.parts else {"dataType": TYPES[column.kind]}),
        **({"isArray": True} if column.is_list else {}),
        "source": source,
    }
