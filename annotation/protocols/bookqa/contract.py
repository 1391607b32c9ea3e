"""What each file of this folder offers, by contract: mypy holds it to that."""

from annotation.protocols.bookqa import (
    baselines,
    checks,
    export,
    rankers,
    report,
    scoring,
    seeds,
    simulated,
    splits,
    validation,
)
from annotation.protocols.bookqa.parameters import Parameters
from annotation.protocols.contracts import (
    BaselinesPart,
    ChecksGold,
    ExportPart,
    IdentifiesSeeds,
    RankersPart,
    ReportPart,
    ReportsBesidePaper,
    ReportsLabels,
    ScoringPart,
    TakesOptions,
    ValidationPart,
)
from collector.seeds.candidate import PlansFolds, SeedsPart, TellsMisfits
from tasks.simulation.simulated_contract import SimulatedPart
from tasks.work.kinds.kind import ChecksPart

_baselines_part_of_baselines: BaselinesPart = baselines
_checks_part_of_checks: ChecksPart[Parameters] = checks
_export_part_of_export: ExportPart = export
_identifies_seeds_of_export: IdentifiesSeeds = export
_rankers_part_of_rankers: RankersPart[Parameters] = rankers
_report_part_of_report: ReportPart[Parameters] = report
_reports_labels_of_report: ReportsLabels[Parameters] = report
_reports_beside_paper_of_report: ReportsBesidePaper = report
_scoring_part_of_scoring: ScoringPart = scoring
_checks_gold_of_scoring: ChecksGold = scoring
_takes_options_of_scoring: TakesOptions = scoring
_seeds_part_of_seeds: SeedsPart[Parameters] = seeds
_tells_misfits_of_seeds: TellsMisfits = seeds
_simulated_part_of_simulated: SimulatedPart = simulated
_plans_folds_of_splits: PlansFolds[Parameters] = splits
_validation_part_of_validation: ValidationPart[validation.Vote, Parameters] = validation
