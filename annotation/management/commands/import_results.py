"""Takes results of MTurk's time in, as work that was done and paid."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import DatabaseError, transaction
from django.utils import timezone

from annotation.mturk_import.plan import (
    find_destination,
    form_of,
    get_or_create_collection,
    plan,
)
from annotation.mturk_import.result_files import columns_for, read
from annotation.mturk_import.storing import store
from collector.language_names import language_argument
from collector.protocols.loading import ProtocolError, get_protocol
from collector.protocols.parameters import assignment
from collector.protocols.stage_tables import LabelTable
from common.actions import ActionError
from common.command_line import MANAGE, Printout, ResultCommand

EXAMPLE = f"""
Only reports what it would do, until --apply. Running it again adds nothing twice.
Example, texts first, then the labels that others gave them:
  {MANAGE} import_results old --protocol P --corpus old-passages --stage text \\
    --map passage=Input.paragraph --map title=Answer.title texts.csv --apply
  {MANAGE} import_results old --protocol P --corpus old-passages --stage label \\
    --map passage=Input.paragraph --map text=Input.title labels.json --inputs shown.csv --apply
HITs of several items: --map passage=Input.paragraph{{n}} --map title=Answer.title{{n}}
"""


class Command(ResultCommand):
    """import_results NAME --protocol P --corpus C --stage S FILES…."""

    help = (
        "Take batch-result CSVs or dumps of ListAssignmentsForHIT into a finished collection. "
        f"Example: {MANAGE} import_results old --protocol P --corpus old --stage text batch.csv"
    )

    refusals = (ActionError, ProtocolError, ValueError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.epilog = EXAMPLE
        add = parser.add_argument
        add("name", help="of the collection; made if it is not there")
        add("files", nargs="+", type=Path, metavar="FILES", help="CSV or JSON")
        add("--protocol", required=True)
        add("--corpus", required=True, help="of the passages; made if it is not there")
        add("--stage", required=True, help="whose results these are: of the kind text or label")
        add("--map", action="append", default=[], metavar="NAME=COLUMN", help="see below")
        add("--value", action="append", default=[], metavar="FIELD:OLD=NEW", help="translate")
        add("--inputs", action="append", default=[], type=Path, help="CSV of HITId and inputs")
        add("--set", action="append", default=[], metavar="KEY=VALUE", help="a parameter")
        add(
            "--language", type=language_argument, default="en", help="of the passages (default: en)"
        )
        add("--apply", action="store_true", help="do it, not only report")

    def result(self, options: dict[str, Any]) -> Printout:
        """Report what would be done, or do it; what cannot be taken in is named and left out."""
        try:
            overrides = dict(assignment(text) for text in options["set"])
            protocol = get_protocol(options["protocol"])
            place = find_destination(options["name"], protocol, options["corpus"], overrides)
            table = form_of(place.parameters, options["stage"])
            columns = columns_for(
                table, options["map"], options["value"], is_label=isinstance(table, LabelTable)
            )
            results = read(_contents(options["files"]), _contents(options["inputs"]))
            planned = plan(
                results, columns, protocol, place.parameters, table, place.corpus, place.slug
            )
            stored = None
            if options["apply"]:
                now = timezone.now()
                with transaction.atomic():
                    collection = get_or_create_collection(place, options["language"], now)
                    stored = store(collection, options["stage"], planned.works, now)
        except DatabaseError as error:
            reason = str(error).partition("\n")[0]
            sentence = f"The database cannot store what the files hold ({reason}): mend them."
            raise CommandError(sentence) from None
        works = planned.works
        told = {
            "applied": stored is not None,
            "assignments": len(works),
            "rejected": sum(work.result.status == "Rejected" for work in works),
            "workers": len({work.result.person for work in works}),
            "paid_cents": sum(
                work.result.reward_cents or 0 for work in works if work.result.status != "Rejected"
            ),
            "known": planned.n_known,
            "left_out": planned.left_out,
            "uncounted": stored.uncounted if stored else [],
        }
        return told, _sentences(told, options["name"])


def _contents(paths: list[Path]) -> dict[str, bytes]:
    try:
        return {str(path): path.read_bytes() for path in paths}
    except OSError as error:
        reason = f"{error.filename}: it cannot be read ({error.strerror}); give a file."
        raise CommandError(reason) from None


def _sentences(told: dict[str, Any], name: str) -> list[str]:
    lines = [f"{place}: excluded. {why}" for place, why in told["left_out"]]
    lines += [f"{place}: kept, not counted. {why}" for place, why in told["uncounted"]]
    lines.append(
        f"{'Took in' if told['applied'] else 'Would take in'} {told['assignments']} assignments of "
        f"{told['workers']} workers ({told['rejected']} rejected: kept out of the data; "
        f"{told['paid_cents']} cents were paid then, nothing is paid now); {told['known']} were "
        f"there before, {len(told['left_out'])} excluded."
    )
    if told["applied"]:
        lines.append(f"Next: {MANAGE} validate_answers {name}, then make_splits, export_dataset.")
    else:
        lines.append("Nothing was changed: add --apply to do it.")
    return lines
