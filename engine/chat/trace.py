"""What a question leaves behind: timings, ids and numbers."""

from dataclasses import dataclass, field

from engine.chat.answer.base import Draft
from engine.retrieval.gate import Gated
from engine.retrieval.search import Found
from engine.telemetry.stopwatch import Stopwatch
from engine.wire import Trace, TraceStage


@dataclass
class ChatTrace(Stopwatch):
    """A stopwatch that also counts tokens, names models and keeps what only the log wants."""

    tokens: dict[str, int] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)
    shadow_rule_ids: list[str] = field(default_factory=list)
    hits: int = 0
    """Documents that passed the gate."""
    top_score: float | None = None

    def saw(self, found: Found, gated: Gated) -> None:
        """Note what retrieval brought."""
        self.hits = len(gated.kept)
        self.top_score = found.documents[0].score if found.documents else None

    def used(self, draft: Draft) -> None:
        """Note who wrote the draft and what it cost."""
        self.models["answer"] = draft.author
        self.count(draft.tokens)

    def count(self, tokens: dict[str, int]) -> None:
        """Note the tokens of one call; each call counts under names of its own."""
        self.tokens.update(tokens)

    def to_wire(self) -> Trace:
        stages = [TraceStage(name=stage.name, ms=stage.ms, detail=stage.detail) for stage in self.stages]
        return Trace(stages=stages, tokens=self.tokens, models=self.models)
