"""What each file of this folder offers, by contract: mypy holds it to that."""

from annotation.protocols.contracts import (
    AddsColumns,
    BaselinesPart,
    ChecksGold,
    ExportPart,
    IdentifiesSeeds,
    ReportPart,
    ScoringPart,
    TakesWholeCorpus,
    ValidationPart,
)
from annotation.protocols.rag import (
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
from annotation.protocols.rag.parameters import Parameters
from collector.seeds.candidate import (
    AssignsSplits,
    CountsSeeds,
    JoinsTexts,
    PlansFolds,
    RestsOnPassages,
    SeedsPart,
)
from tasks.simulation.simulated_contract import SimulatedPart
from tasks.work.kinds.kind import ChecksPart

_checks_part_of_checks: ChecksPart[Parameters] = checks
_export_part_of_export: ExportPart = export
_identifies_seeds_of_export: IdentifiesSeeds = export
_adds_columns_of_export: AddsColumns = export
_takes_whole_corpus_of_export: TakesWholeCorpus = export
_report_part_of_report: ReportPart[Parameters] = report
_scoring_part_of_scoring: ScoringPart = scoring
_checks_gold_of_scoring: ChecksGold = scoring
_seeds_part_of_seeds: SeedsPart[Parameters] = seeds
_counts_seeds_of_seeds: CountsSeeds[Parameters] = seeds
_joins_texts_of_seeds: JoinsTexts = seeds
_simulated_part_of_simulated: SimulatedPart = simulated
_plans_folds_of_splits: PlansFolds[Parameters] = splits
_assigns_splits_of_splits: AssignsSplits[Parameters] = splits
_rests_on_passages_of_splits: RestsOnPassages = splits
_validation_part_of_validation: ValidationPart[validation.Vote, Parameters] = validation
_baselines_part_of_baselines: BaselinesPart = baselines
