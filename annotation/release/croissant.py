"""Croissant 1.1 metadata: files with checksums, record sets, and the Responsible-AI vocabulary."""

import hashlib
import json
from collections.abc import Mapping
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
    collection, corpus, said = facts.collection, facts.collection.corpus, facts.said
    paid, preparation, platform, personal = [], [], [], []
    protocol = per_item = ""
    collected_by = ["Secondary Data analysis"]
    if not facts.is_imported():
        parameters = parameters_of(collection)
        stages = parameters.stages()
        paid = [*_pay(facts), rejections(collection)]
        people = [] if facts.is_simulated() else ["Manual Human Curator"]
        collected_by = people + ["Software Collection"] * bool(facts.outcomes.simulated())
        preparation = [
            sample(collection),
            split_rule(collection),
            "Text was taken out of its markup; sentences and offsets are those of that text, in "
            "Unicode code points.",
            "Which questions are in the dataset was decided by rules on the answers of several "
            "people, or by a requester; every vote is released.",
        ]
        called = "; ".join(
            f"{name} (kind {table.kind}, {table.items_per_hit} items in a HIT)"
            for name, table in stages.items()
        )
        protocol = _joined(
            f"{parameters.protocol.title}, version {collection.protocol_version}. "
            f"Stages: {called}.",
            "What is handed in is checked while it is written, by the protocol's own rules. "
            "Nobody answers or labels their own work.",
            versions_read(collection),
        )
        per_item = "; ".join(f"{name}: {workers_per_item(each)}" for name, each in stages.items())
        platform, personal = [PLATFORM], [PSEUDONYMS]
    source = ", ".join(corpus.source.splitlines())
    licence = f", under {named(corpus.licence_name)}" if named(corpus.licence_name) else ""
    if corpus.licence_name == SEVERAL:
        licence = ", each document under its own licence"
    elif others := contradictions(corpus):
        licence += f", some documents under {', '.join(others)}"
    read = f", read from {source}" if source else ""
    dropped = facts.outcomes.number("dropped")
    # What software did or saw of the annotation; what only measures is no part of it.
    machines = []
    if facts.outcomes.simulated():
        machines.append("Collector's simulated workers, in place of people: see the counts above.")
    if run := last_run(collection):
        machines.append(f"{run.reader}: judged how hard questions are, which decides their split.")
    known: dict[str, str | list[str]] = {
        "dataCollection": _joined(origin(facts), *paid, bonuses(collection)),
        "dataCollectionType": collected_by,
        "dataCollectionRawData": (
            f"Text of {corpus.name} in {language_name(corpus.language)}{read}{licence}."
        ),
        "dataCollectionMissingData": (
            f"{dropped:,} questions were left out of the dataset; they are in the votes, each "
            "with the reason."
            if dropped
            else ""
        ),
        "dataCollectionTimeframe": [
            f"{day:%Y-%m-%d}" for day in (facts.dates.began, facts.dates.ended) if day
        ],
        "dataPreprocessingProtocol": [each for each in preparation if each],
        "dataAnnotationProtocol": protocol,
        "dataAnnotationPlatform": platform,
        # How far people agree, a sentence for each row of the report's tables of it.
        "dataAnnotationAnalysis": [
            f"{table.title}: "
            + ", ".join(f"{name} {cell}" for name, cell in zip(table.columns, row, strict=True))
            + "."
            for table in facts.tables
            if table.name in AGREEMENT
            for row in table.texts()
        ],
        "annotationsPerItem": per_item,
        "annotatorDemographics": [told] if (told := workers_told(collection)) else [],
        "machineAnnotationTools": machines,
        "dataLimitations": limits(facts),
        "personalSensitiveInformation": personal,
        "dataReleaseMaintenancePlan": FROZEN,
    }
    # What only the requester can say stands behind what is known, or by itself.
    found = dict(known)
    for about, name in LISTS.items():
        found[name] = [*found.get(name, []), *([said[about]] if about in said else [])]
    for about, name in TEXTS.items():
        if about in said:
            label = f"{About(about).label}: " if name in known else ""
            found[name] = f"{found.get(name, '')} {label}{said[about]}".strip()
    return {name: value for name, value in found.items() if value}


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def workers_per_item(table: StageTable) -> str:
    """Return how many workers do an item of a stage, by its fold where folds differ."""
    redundancy = table.redundancy
    folds = redundancy.by_fold()
    told = ", ".join(f"{fold} {number}" for fold, number in folds.items())
    if len({*folds.values()}) == 1:
        told = str(*{*folds.values()})
    share = f"; {redundancy.people} for {redundancy.percent} % of the HITs, drawn by the seed"
    return told + share * bool(redundancy.percent)


def _pay(facts: Facts) -> list[str]:
    """Return what each stage paid, in sentences."""
    told = []
    for table in facts.tables:
        for row in table.texts() if table.name == "pay" else ():
            of = dict(zip(table.columns, row, strict=True))
            if of["assignments"] != "0":
                hourly = of["hourly rate"]
                is_known = any(map(str.isdigit, hourly))
                more = f", {hourly} an hour by the median time" if is_known else ""
                told.append(f"The stage {of['stage']} paid {of['reward']} for an assignment{more}.")
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
