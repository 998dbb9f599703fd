"""Names, order and targets of the figures of an evaluation run: one truth for the engine and the console."""

RECALL_AT = (4, 5)
PRECISION_AT = (1, 3, 5)

HEADLINE = "recall@4"
"""The figure that a release is judged by."""
CHECKPOINT = 0.75
"""What recall@4 has to reach."""
STRETCH = 0.85
"""What recall@4 is hoped to reach."""
GROWTH = "growth"
"""Label of a run that was recorded after a step of the corpus' growth."""

RETRIEVAL_METRICS = (
    *(f"recall@{k}" for k in RECALL_AT),
    *(f"precision@{k}" for k in PRECISION_AT),
    "mrr",
    "false_abstention",
)
"""Figures of questions that the corpus answers, in the order in which they are shown."""
NONE_METRICS = ("abstention",)
"""Figures of questions that the corpus does not answer."""
METRICS = (*RETRIEVAL_METRICS, *NONE_METRICS)
LOWER_IS_BETTER = frozenset({"false_abstention"})
