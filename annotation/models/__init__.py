"""The rows of verdicts, splits, judged difficulty and releases."""

from annotation.models.long_work import BaselineRun, Rehearsal, RehearsalPage
from annotation.models.release import (
    About,
    Context,
    OfficialArticle,
    OfficialFile,
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
