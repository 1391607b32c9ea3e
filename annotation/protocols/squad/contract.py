"""What each file of this folder offers, by contract: mypy holds it to that."""

from annotation.protocols.contracts import (
    ExportPart,
    IdentifiesSeeds,
    ReportPart,
    ScoringPart,
    TakesOptions,
    ValidationPart,
)
from annotation.protocols.squad import (
    checks,
    export,
    report,
    scoring,
    seeds,
    simulated,
    splits,
    validation,
)
from annotation.protocols.squad.parameters import Parameters
from collector.seeds.candidate import CountsSeeds, PlansFolds, SeedsPart
from tasks.simulation.simulated_contract import SimulatedPart
from tasks.work.kinds.kind import ChecksPart

_checks_part_of_checks: ChecksPart[Parameters] = checks
_export_part_of_export: ExportPart = export
_identifies_seeds_of_export: IdentifiesSeeds = export
_report_part_of_report: ReportPart[Parameters] = report
_scoring_part_of_scoring: ScoringPart = scoring
_takes_options_of_scoring: TakesOptions = scoring
_seeds_part_of_seeds: SeedsPart[Parameters] = seeds
_counts_seeds_of_seeds: CountsSeeds[Parameters] = seeds
_simulated_part_of_simulated: SimulatedPart = simulated
_plans_folds_of_splits: PlansFolds[Parameters] = splits
_validation_part_of_validation: ValidationPart[validation.Vote, Parameters] = validation
