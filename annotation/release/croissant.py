"""Croissant 1.1 metadata: files with checksums, each split and the votes as record sets, and more.

What a release knows for the Responsible-AI vocabulary is there too.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from annotation.models import About
from annotation.records.parquet_tables import BOOLEAN, INTEGER, TEXT, Column
from annotation.release import questions_table, responsible_ai, votes_table
from annotation.release.articles import licences_of_documents
from annotation.release.citation import citation
from annotation.release.facts import Facts, description, origin
from annotation.release.statements import authors_of
from collector.ingest.licences import ADDRESSES, SEVERAL, UNKNOWN, contradictions
from collector.models import Corpus

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


def metadata(facts: Facts, digests: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Return the description of the release's files, by name with "sha256" and "bytes"."""
    collection, corpus = facts.collection, facts.collection.corpus
    marked = f"{origin(facts)} " if facts.outcomes.simulated() or facts.is_imported() else ""
    value = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [VERSION, responsible_ai.VOCABULARY],
        "name": collection.slug,
        "version": _version(digests),
        "datePublished": f"{facts.dates.published:%Y-%m-%d}",
        "description": marked + description(facts),
        "inLanguage": corpus.language,
        "creator": _creators(facts),
        "publisher": {"@type": "sc:Organization", "name": collection.requester_name},
        "citeAs": citation(facts),
        "license": _licences(corpus),
        **{f"rai:{name}": told for name, told in responsible_ai.properties(facts).items()},
        "distribution": [_file(name, entry) for name, entry in digests.items()],
        "recordSet": _record_sets(facts),
    }
    if About.PAGE in facts.said:
        value["url"] = facts.said[About.PAGE]
    if corpus.base_url:
        value["isBasedOn"] = corpus.base_url
    return json.dumps(value, ensure_ascii=False, indent=2).encode() + b"\n"


def _creators(facts: Facts) -> list[Json] | Json:
    """Return the authors, without any the requester."""
    authors = [{"@type": "sc:Person", "name": name} for name in authors_of(facts.said)]
    return authors or {"@type": "sc:Organization", "name": facts.collection.requester_name}


def _licences(corpus: Corpus) -> list[str] | str:
    """Return the address of the licence, or its name; of each where documents have their own."""
    if corpus.licence_name == SEVERAL:
        return [ADDRESSES.get(name, name) for name in licences_of_documents(corpus)]
    said = corpus.licence_url or corpus.licence_name or UNKNOWN
    others = [ADDRESSES.get(name, name) for name in contradictions(corpus)]
    return [said, *others] if others else said


def _version(digests: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a version that follows from the files alone: equal files, equal version."""
    sums = "".join(f"{name} {entry['sha256']}\n" for name, entry in digests.items())
    return f"1.0.0+{hashlib.sha256(sums.encode()).hexdigest()[:12]}"


def _file(name: str, entry: Mapping[str, Any]) -> Json:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{entry['bytes']} B",
        "encodingFormat": FORMATS.get("." + name.rpartition(".")[2], PLAIN),
        "sha256": entry["sha256"],
    }


def _record_sets(facts: Facts) -> list[Json]:
    splits = [
        _table(
            questions_table.name_of(split),
            questions_table.file_of(split),
            f"The questions of the split {split}: {number:,}.",
            facts.columns,
        )
        for split, number in facts.tabled().items()
    ]
    votes = _table("votes", votes_table.FILE, votes_table.ABOUT, votes_table.COLUMNS)
    return [*([_enumeration(facts)] if splits else []), *splits, votes]


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
        "data": [{name: split, url: _purpose(split)} for split in facts.tabled()],
    }


def _purpose(split: str) -> str:
    """Return what a split is for, in the words of the vocabulary."""
    return next((about for begin, about in SPLITS.items() if split.startswith(begin)), "cr:Split")


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
