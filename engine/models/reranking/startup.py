"""What a reranker must show before it is trusted: pairs that are plain to whoever reads both languages."""

import math
from collections.abc import Sequence

FITTING = (
    ("What does HbA1c show?", "HbA1c shows the average level of glucose in the blood over the past three months."),
    ("Что показывает ферритин?", "Ферритин показывает, сколько железа запасено в организме."),
)
"""Question and a passage that answers it, one pair a language."""
UNRELATED = (
    ("What does HbA1c show?", "The museum is open every day except Monday; children enter free."),
    ("Что показывает ферритин?", "Поезд на Казань отправляется с третьего пути в половине девятого."),
)
"""The same questions, each with a passage that has nothing to do with it."""
MARGIN = 2.0
"""Logits by which every fitting pair must outscore every unrelated one; a working model has some ten between them."""


def startup_fault(fitting: Sequence[float], unrelated: Sequence[float]) -> str | None:
    """What is wrong with the logits of `FITTING` and `UNRELATED`; None where nothing is."""
    logits = [*fitting, *unrelated]
    if not all(map(math.isfinite, logits)):
        return "scores of the test pairs are not finite"
    if all(0.0 <= logit <= 1.0 for logit in logits):
        # Gated by a sigmoid once more, every passage would score between .5 and .73.
        return "scores of the test pairs all lie between 0 and 1: probabilities where logits are wanted"
    gap = min(fitting) - max(unrelated)
    if gap < MARGIN:
        return f"a passage that answers scores only {gap:.2f} above one that does not, not {MARGIN:g} or more"
    return None
