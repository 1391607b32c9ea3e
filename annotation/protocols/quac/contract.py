"""What each file of this folder offers, by contract: mypy holds it to that."""

from annotation.protocols.contracts import (
    BaselinesPart,
    ChecksGold,
    ExportPart,
    IdentifiesSeeds,
    ReportPart,
    ReportsLabels,
    ReportsPredictions,
    ScoringPart,
    TakesOptions,
    ValidationPart,
)
from annotation.protocols.quac import (
    baselines,
    checks,
    export,
    report,
    scoring,
    seeds,
    simulated,
    splits,
    validation,
)
from annotation.protocols.quac.parameters import Parameters
from collector.seeds.candidate import JoinsTexts, PlansFolds, SeedsPart
from tasks.simulation.simulated_contract import Inspects, Replays, SimulatedPart, Speaks
from tasks.work.kinds.kind import ChecksPart

_baselines_part_of_baselines: BaselinesPart = baselines
_takes_options_of_baselines: TakesOptions = baselines
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
_joins_texts_of_seeds: JoinsTexts = seeds
_simulated_part_of_simulated: SimulatedPart = simulated
_speaks_of_simulated: Speaks = simulated
_inspects_of_simulated: Inspects = simulated
_replays_of_simulated: Replays = simulated
_plans_folds_of_splits: PlansFolds[Parameters] = splits
_validation_part_of_validation: ValidationPart[validation.Vote, Parameters] = validation
