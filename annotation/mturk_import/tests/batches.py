"""Old results as a requester has them: a batch-result CSV and a dump of ListAssignmentsForHIT."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.sax.saxutils import escape

# The columns of batch results, as documented for the requester's site.
COLUMNS = (
    "HITId HITTypeId Title Description Keywords Reward CreationTime MaxAssignments "
    "RequesterAnnotation AssignmentDurationInSeconds AutoApprovalDelayInSeconds Expiration "
    "NumberOfSimilarHITs LifetimeInSeconds AssignmentId WorkerId AssignmentStatus AcceptTime "
    "SubmitTime AutoApprovalTime ApprovalTime RejectionTime RequesterFeedback WorkTimeInSeconds "
    "LifetimeApprovalRate Last30DaysApprovalRate Last7DaysApprovalRate"
).split()
PASSAGES = (
    "The mill at Hollin was built in 1204 and ground corn for six villages.",
    "The harbour of Erle silted up, and its boats moved to the river mouth.",
)
HEADLINES = ("Mill served six villages", "Boats leave Erle")
WRITERS, READERS = ("AADA", "AGRACE"), ("AEDITH", "AIDA", "AMALLORY")
ANSWERS = (
    '<?xml version="1.0" encoding="ASCII"?><QuestionFormAnswers xmlns="http://mechanicalturk.'
    'amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd">{}'
    "</QuestionFormAnswers>"
)
ANSWER = "<Answer><QuestionIdentifier>{}</QuestionIdentifier><FreeText>{}</FreeText></Answer>"


def batch_csv(lines: list[dict[str, str]]) -> bytes:
    """Return lines as batch results, the `Input.` and `Answer.` columns after the others."""
    names = dict.fromkeys(name for line in lines for name in line)
    header = [*COLUMNS, *(name for name in names if name not in COLUMNS), "Approve", "Reject"]
    text = io.StringIO()
    writer = csv.DictWriter(text, header, restval="")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue().encode()


def line(hit: str, worker: str, status: str = "Approved", **values: str) -> dict[str, str]:
    """Return one assignment of batch results; values by column, the dots written as __."""
    return {
        "HITId": hit,
        "HITTypeId": "TYPE",
        "Reward": "$0.25",
        "MaxAssignments": "2",
        "AssignmentId": f"{hit}-{worker}",
        "WorkerId": worker,
        "AssignmentStatus": status,
        "AcceptTime": "Fri May 03 10:00:00 PDT 2019",
        "SubmitTime": "Fri May 03 10:02:30 PDT 2019",
        "WorkTimeInSeconds": "150",
        **{name.replace("__", "."): value for name, value in values.items()},
    }


def texts() -> list[dict[str, str]]:
    """Return what two people wrote about two passages, each passage a HIT."""
    return [
        line(f"H{n}", name, Input__passage=PASSAGES[n], Answer__headline=f"{words} {index}")
        for n, words in enumerate(HEADLINES)
        for index, name in enumerate(WRITERS)
    ]


def labels_dump(**statuses: str) -> tuple[bytes, bytes]:
    """Return what three people said of each text: pages of the API, and a CSV of what was shown."""
    at = datetime(2019, 5, 4, 9, 0, tzinfo=UTC)
    pages, shown = [], ["HITId,passage,text,Reward"]
    for n, (passage, words) in enumerate(
        (passage, f"{words} {index}")
        for passage, words in zip(PASSAGES, HEADLINES, strict=True)
        for index in range(2)
    ):
        shown.append(f'L{n},"{passage}",{words},0.10')
        rows: list[dict[str, Any]] = [
            {
                "HITId": f"L{n}",
                "AssignmentId": f"L{n}-{name}",
                "WorkerId": name,
                "AssignmentStatus": statuses.get(name, "Approved"),
                "AcceptTime": at,
                "SubmitTime": at + timedelta(seconds=40),
                "Answer": answers(label="wrong" if n == 3 else "faithful", remark="a < b"),
            }
            for name in READERS
        ]
        pages.append({"NumResults": 3, "NextToken": "t", "Assignments": rows})
    return json.dumps(pages, default=str).encode(), "\n".join(shown).encode()


def answers(**fields: str) -> str:
    """Return fields as QuestionFormAnswers XML."""
    return ANSWERS.format(
        "".join(ANSWER.format(name, escape(value)) for name, value in fields.items())
    )
