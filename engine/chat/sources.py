"""Sources of an answer: the chunks of the gated documents, numbered, sanitised and ready to be cited."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.guardrails.injection import Sanitised
from engine.retrieval.rank import RankedDocument
from engine.wire import Citation

MAX_SOURCES = 4
"""Documents in a prompt: what recall@4 measures is what the answer sees."""
CHUNKS_A_SOURCE = 3

Sanitise = Callable[[str, str], Sanitised]
"""Text and channel in, cleaned text out."""


@dataclass(frozen=True)
class Source:
    """A numbered document; `passages` are its best chunks in reading order, `weights` their relevance."""

    n: int
    document: str
    title: str
    url: str
    score: float
    passages: tuple[str, ...]
    weights: tuple[float, ...]

    def citation(self) -> Citation:
        return Citation(n=self.n, document=self.document, title=self.title, url=self.url)


@dataclass(frozen=True)
class Sources:
    """What the answer may rest on, and what the sanitiser cut out of it."""

    items: tuple[Source, ...]
    redactions: int
    rule_ids: tuple[str, ...]
    shadow_rule_ids: tuple[str, ...]

    def texts(self) -> list[tuple[str, str]]:
        """Title and text of each source in the order of the numbers."""
        return [(item.title, "\n\n".join(item.passages)) for item in self.items]

    def summary(self) -> dict[str, Any]:
        """What the trace says of them: ids and counts."""
        return {
            "documents": [item.document for item in self.items],
            "redactions": self.redactions,
            "injection_rules": list(self.rule_ids),
        }


def build_sources(documents: Sequence[RankedDocument], sanitise: Sanitise) -> Sources:
    """Number the best documents and clean their texts and titles of injected instructions."""
    cleaned: list[Sanitised] = []

    def clean(text: str, channel: str = "chunk") -> str:
        result = sanitise(text, channel)
        cleaned.append(result)
        return result.text

    items = []
    for n, document in enumerate(documents[:MAX_SOURCES], start=1):
        best = document.best.candidate
        chunks = sorted(document.chunks[:CHUNKS_A_SOURCE], key=lambda chunk: chunk.candidate.ordinal)
        items.append(
            Source(
                n=n,
                document=best.document,
                title=clean(best.title, "title"),
                url=best.source[0] if best.source else "",
                score=document.score,
                passages=tuple(clean(chunk.candidate.content) for chunk in chunks),
                weights=tuple(chunk.relevance.order for chunk in chunks),
            )
        )
    return Sources(
        items=tuple(items),
        redactions=sum(item.redactions for item in cleaned),
        rule_ids=tuple(sorted({rule for item in cleaned for rule in item.rule_ids})),
        shadow_rule_ids=tuple(sorted({rule for item in cleaned for rule in item.shadow_rule_ids})),
    )
