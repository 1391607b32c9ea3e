"""All tables of one collection: the protocol's own, the outcomes, the pay."""

from collections.abc import Iterable
from pathlib import Path

from annotation.decisions.records import records
from annotation.protocols.contracts import EXPORT, REPORT
from annotation.records.schema import SeedRecord
from annotation.records.withholding import NOTHING, Withheld, public_records
from annotation.reports.let_in import let_in_tables
from annotation.reports.outcomes import Outcomes
from annotation.reports.pay import bonus_tables, pay_table
from annotation.reports.vote_agreement import VoteAgreement
from annotation.tables.agreement import Agreement
from annotation.tables.collected_labels import CollectedLabels
from annotation.tables.table import Table
from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.loading import get_protocol
from collector.protocols.parameters import FOLDS


def tables_of(collection: Collection) -> list[Table]:
    """Return the collection's report; raises ProtocolError.

    Reads every question once, in memory that does not grow.
    """
    tables, _ = tables_from(collection, identified(collection), pay=pay_table(collection))
    return [*tables, *bonus_tables(collection), *let_in_tables(collection)]


def tables_of_predictions(collection: Collection, predictions: Path) -> list[Table]:
    """Return the protocol's tables of how predictions in its official layout do.

    Raises ProtocolError where it offers none, ScoreError for what is wrong with the file.
    """
    report = get_protocol(collection.protocol).part(REPORT, "predicted")
    outcomes, parameters = Outcomes(), parameters_of(collection)
    seeds = outcomes.watch(identified(collection))
    tables = report.predicted(seeds, parameters, predictions)
    return outcomes.headed(tables)


def tables_from(
    collection: Collection,
    seeds: Iterable[SeedRecord],
    *,
    pay: Table,
    withheld: Withheld = NOTHING,
) -> tuple[list[Table], Outcomes]:
    """Return the report of records read before, and the counts of their questions and votes.

    pay: the table that comes last. withheld: splits that the protocol's tables must not tell of.

    The protocol's part `report.py` offers `tables(seeds, parameters)`, which goes through the
    seeds once; a protocol without that part gets the other tables alone.
    """
    outcomes = Outcomes()
    protocol = get_protocol(collection.protocol)
    agreement = Agreement(parameters_of(collection))
    labels = CollectedLabels(parameters_of(collection))
    votes = VoteAgreement(parameters_of(collection))
    public = public_records(outcomes.watch(seeds), withheld)
    watched = votes.watch(labels.watch(agreement.watch(public)))
    tables: list[Table] = []
    if protocol.has(REPORT):
        tables += protocol.part(REPORT).tables(watched, parameters_of(collection))
    for _ in watched:
        pass
    folds = FOLDS if outcomes.are_planned else protocol.part(EXPORT).SPLITS
    told = labels.tables()
    if protocol.has(REPORT):
        told = [protocol.part(REPORT).beside_paper(table) for table in told]
    tables += [*told, *agreement.tables(), *votes.tables(), outcomes.table(folds)]
    return [*outcomes.headed(tables), pay], outcomes


def identified(collection: Collection) -> Iterable[SeedRecord]:
    """Return the collection's records under the ids of its release."""
    return get_protocol(collection.protocol).part(EXPORT).identified(records(collection))
