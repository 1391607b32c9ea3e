"""The rows of verdicts, splits, judged difficulty and releases."""

from annotation.models.baselines import BaselineRun, TrainingState
from annotation.models.official import OfficialArticle, OfficialFile
from annotation.models.rehearsal import Rehearsal, RehearsalPage, RehearsalState
from annotation.models.release import (
    About,
    Context,
    OrderState,
    Release,
    ReleaseOrder,
    Statement,
    ToldQuestion,
)
from annotation.models.splits import (
    CrossValidation,
    Fold,
    FoldState,
    HeldOutPrediction,
    HopDecision,
    Hops,
    RunState,
    SampledQuestion,
    SplitAssignment,
)
from annotation.models.verdict import Exclusion, Override, Verdict

__all__ = [
    "About",
    "BaselineRun",
    "Context",
    "CrossValidation",
    "Exclusion",
    "Fold",
    "FoldState",
    "HeldOutPrediction",
    "HopDecision",
    "Hops",
    "OfficialArticle",
    "OfficialFile",
    "OrderState",
    "Override",
    "Rehearsal",
    "RehearsalPage",
    "RehearsalState",
    "Release",
    "ReleaseOrder",
    "RunState",
    "SampledQuestion",
    "SplitAssignment",
    "Statement",
    "ToldQuestion",
    "TrainingState",
    "Verdict",
]
