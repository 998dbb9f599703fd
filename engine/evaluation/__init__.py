"""The evaluation room: sets of questions, runs over them, and how far their figures can be trusted."""

from engine.evaluation.calibrate import GateReport, calibrate
from engine.evaluation.errors import EvaluationError
from engine.evaluation.evaluate import Subject, evaluate
from engine.evaluation.records import Corpus, RecordedRun
from engine.evaluation.sets import CALIBRATION_SETS, DEFAULT_SETS, EvalSet, resolve_sets

__all__ = [
    "CALIBRATION_SETS",
    "DEFAULT_SETS",
    "Corpus",
    "EvalSet",
    "EvaluationError",
    "GateReport",
    "RecordedRun",
    "Subject",
    "calibrate",
    "evaluate",
    "resolve_sets",
]
