"""Croissant 1.0 metadata: the files with their checksums, and the votes as a record set."""

import hashlib
import json
from typing import Any

from annotation.release import votes_table
from collector.models import Collection

FILE = "croissant.json"
# As the format's specification asks of every description.
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **{
        name: f"cr:{name}"
        for name in (
            "citeAs",
            "column",
            "equivalentProperty",
            "extract",
            "field",
            "fileObject",
            "fileProperty",
            "fileSet",
            "format",
            "includes",
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
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}
FORMATS = {
    ".json": "application/json",
    ".jsonl": "application/jsonlines",
    ".csv": "text/csv",
    ".md": "text/markdown",
    ".parquet": "application/x-parquet",
}


def metadata(collection: Collection, description: str, digests: dict[str, dict[str, Any]]) -> bytes:
    """Return the description of the release's files, by name with "sha256" and "bytes"."""
    corpus = collection.corpus
    value = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": collection.slug,
        "version": _version(digests),
        "description": description,
        "inLanguage": corpus.language,
        "creator": {"@type": "sc:Organization", "name": collection.requester_name},
        "citeAs": citation(collection),
        "license": corpus.licence_url or corpus.licence_name or "unknown",
        "distribution": [
            _file(name, entry) for name, entry in digests.items() if _format(name) is not None
        ],
        "recordSet": [_votes()] if votes_table.FILE in digests else [],
    }
    if corpus.base_url:
        value["isBasedOn"] = corpus.base_url
    return json.dumps(value, ensure_ascii=False, indent=2).encode() + b"\n"


def citation(collection: Collection) -> str:
    """Return how to name the dataset in a text."""
    return (
        f"{collection.requester_name}: {collection.title}. Questions and answers about "
        f"{collection.corpus.name}, collected with the protocol {collection.protocol}, "
        f"version {collection.protocol_version}."
    )


def _version(digests: dict[str, dict[str, Any]]) -> str:
    """Return a version that follows from the files alone: equal files, equal version."""
    sums = "".join(f"{name} {entry['sha256']}\n" for name, entry in digests.items())
    return f"1.0.0+{hashlib.sha256(sums.encode()).hexdigest()[:12]}"


def _format(name: str) -> str | None:
    return FORMATS.get("." + name.rpartition(".")[2])


def _file(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{entry['bytes']} B",
        "encodingFormat": _format(name),
        "sha256": entry["sha256"],
    }


def _votes() -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": "votes",
        "name": "votes",
        "description": "Every vote on every question, those left out of the dataset included.",
        "field": [_field(name, text) for name, text in votes_table.COLUMNS.items()],
    }


def _field(name: str, description: str) -> dict[str, Any]:
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"votes/{name}",
        "name": name,
        "description": description,
    }
    if name in votes_table.SPAN_LISTS:
        subfields = [_subfield(name, part) for part in votes_table.SPAN_FIELDS]
        return {**field, "repeated": True, "source": _source(name), "subField": subfields}
    if name in votes_table.TEXT_LISTS:
        field["repeated"] = True
    return {**field, "dataType": _type(name), "source": _source(name)}


def _subfield(name: str, part: str) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"votes/{name}/{part}",
        "name": part,
        "dataType": "sc:Integer" if part in ("start", "end") else "sc:Text",
        "source": {**_source(name), "transform": {"jsonPath": f"$[*].{part}"}},
    }


def _source(column: str) -> dict[str, Any]:
    return {"fileObject": {"@id": votes_table.FILE}, "extract": {"column": column}}


def _type(name: str) -> str:
    if name in votes_table.BOOLEANS:
        return "sc:Boolean"
    return "sc:Integer" if name in votes_table.INTEGERS else "sc:Text"
