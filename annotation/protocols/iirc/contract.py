"""What each file of this folder offers, by contract: mypy holds it to that."""

from annotation.protocols.contracts import (
    ChecksGold,
    CombinedPart,
    ExportPart,
    IdentifiesSeeds,
    ReportPart,
    ReportsLabels,
    ReportsPredictions,
    ScoringPart,
    TakesOptions,
    TrainedBaselines,
    ValidationPart,
)
from annotation.protocols.iirc import (
    baselines,
    checks,
    combined,
    export,
    report,
    scoring,
    seeds,
    simulated,
    splits,
    validation,
)
from annotation.protocols.iirc.parameters import Parameters
from collector.seeds.candidate import CountsSeeds, PlansFolds, SeedsPart, TellsMisfits
from tasks.simulation.simulated_contract import Inspects, Replays, SimulatedPart
from tasks.work.kinds.kind import ChecksPart

_trained_baselines_of_baselines: TrainedBaselines = baselines
_combined_part_of_combined: CombinedPart[Parameters] = combined
_checks_part_of_checks: ChecksPart[Parameters] = checks
_export_part_of_export: ExportPart = export
_identifies_seeds_of_export: IdentifiesSeeds = export
_report_part_of_report: ReportPart[Parameters] = report
_reports_predictions_of_report: ReportsPredictions[Parameters] = report
_reports_labels_of_report: ReportsLabels[Parameters] = report
_scoring_part_of_scoring: ScoringPart = scoring
_checks_gold_of_scoring: ChecksGold = scoring
_takes_options_of_scoring: TakesOptions = scoring
_seeds_part_of_seeds: SeedsPart[Parameters] = seeds
_tells_misfits_of_seeds: TellsMisfits = seeds
_counts_seeds_of_seeds: CountsSeeds[Parameters] = seeds
_simulated_part_of_simulated: SimulatedPart = simulated
_inspects_of_simulated: Inspects = simulated
_replays_of_simulated: Replays = simulated
_plans_folds_of_splits: PlansFolds[Parameters] = splits
_validation_part_of_validation: ValidationPart[validation.Vote, Parameters] = validation
