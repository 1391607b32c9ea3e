"""What each file of this folder offers, by contract: mypy holds it to that."""

from annotation.protocols.contracts import (
    ChecksGold,
    ContextsPart,
    ExportPart,
    IdentifiesSeeds,
    ReportPart,
    ReportsLabels,
    ReportsPredictions,
    ScoringPart,
    TakesOptions,
    ValidationPart,
    WithholdsGold,
)
from annotation.protocols.hotpotqa import (
    checks,
    contexts,
    export,
    report,
    scoring,
    seeds,
    simulated,
    splits,
    validation,
)
from annotation.protocols.hotpotqa.parameters import Parameters
from collector.seeds.candidate import AssignsSplits, CuratedSeedsPart, TellsMisfits
from tasks.simulation.simulated_contract import Replays, SimulatedPart
from tasks.work.kinds.kind import ChecksPart

_checks_part_of_checks: ChecksPart[Parameters] = checks
_contexts_part_of_contexts: ContextsPart[Parameters] = contexts
_export_part_of_export: ExportPart = export
_identifies_seeds_of_export: IdentifiesSeeds = export
_withholds_gold_of_export: WithholdsGold = export
_report_part_of_report: ReportPart[Parameters] = report
_reports_predictions_of_report: ReportsPredictions[Parameters] = report
_reports_labels_of_report: ReportsLabels[Parameters] = report
_scoring_part_of_scoring: ScoringPart = scoring
_checks_gold_of_scoring: ChecksGold = scoring
_takes_options_of_scoring: TakesOptions = scoring
_curated_seeds_part_of_seeds: CuratedSeedsPart[Parameters] = seeds
_tells_misfits_of_seeds: TellsMisfits = seeds
_simulated_part_of_simulated: SimulatedPart = simulated
_replays_of_simulated: Replays = simulated
_assigns_splits_of_splits: AssignsSplits[Parameters] = splits
_validation_part_of_validation: ValidationPart[validation.Vote, Parameters] = validation
