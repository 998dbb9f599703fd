"""From the results of single cases to the figures of a set, for each language and for both."""

from collections.abc import Mapping, Sequence

from engine.evaluation.metrics import PROPORTIONS
from engine.evaluation.records import ALL, CaseResult, MetricRow
from engine.evaluation.sets import EvalSet
from engine.evaluation.statistics import clustered_bootstrap, wilson
from engine.wire.metrics import NONE_METRICS, RETRIEVAL_METRICS


def aggregate(eval_set: EvalSet, results: Sequence[CaseResult], *, seed: int) -> tuple[MetricRow, ...]:
    """Every metric of the set for `all`, `ru` and `en`; a language without cases has no row.

    A case that could not be scored is left out of the value and shown by `n_scored` being less than `n`.
    """
    clusters = {case.id: case.cluster for case in eval_set.cases}
    names = RETRIEVAL_METRICS if eval_set.kind == "retrieval" else NONE_METRICS
    langs = (ALL, *sorted({result.lang for result in results}, reverse=True))
    return tuple(
        _row(eval_set.name, lang, name, [r for r in results if lang in (ALL, r.lang)], clusters, seed)
        for lang in langs
        for name in names
    )


def _row(
    set_name: str, lang: str, metric: str, part: Sequence[CaseResult], clusters: Mapping[str, str], seed: int
) -> MetricRow:
    scored = [result for result in part if result.error is None]
    values = [result.scores[metric] for result in scored]
    if not values:
        return MetricRow(set_name, lang, metric, None, None, len(part), 0)
    if metric in PROPORTIONS:
        ci = wilson(sum(value == 1.0 for value in values), len(values))
    else:
        ci = clustered_bootstrap(values, [clusters[result.case_id] for result in scored], seed=seed)
    return MetricRow(set_name, lang, metric, sum(values) / len(values), ci, len(part), len(values))
