"""The rows of verdicts, splits, judged difficulty and releases."""

from annotation.models.baselines import BaselineRun
from annotation.models.official import OfficialArticle, OfficialFile
from annotation.models.rehearsal import Rehearsal, RehearsalPage
from annotation.models.release import (
    About,
    Context,
    Release,
    ReleaseOrder,
    Statement,
    ToldQuestion,
)
from annotation.models.splits import (
    CrossValidation,
    Fold,
    HeldOutPrediction,
    HopDecision,
    Hops,
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
    "HeldOutPrediction",
    "HopDecision",
    "Hops",
    "OfficialArticle",
    "OfficialFile",
    "Override",
    "Rehearsal",
    "RehearsalPage",
    "Release",
    "ReleaseOrder",
    "SampledQuestion",
    "SplitAssignment",
    "Statement",
    "ToldQuestion",
    "Verdict",
]
