"""How a question ends: the text that is shown, what stands in the record, and why."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.chat.fixed import Fixed
from engine.chat.sources import Source
from engine.guardrails.citations import Repaired, drop_links, repair
from engine.guardrails.judge import JudgeVerdict
from engine.guardrails.output import OutputGuard
from engine.wire import Citation, Guardrail, Outcome


@dataclass(frozen=True)
class Ending:
    """The end of a question before it is put on the wire."""

    outcome: Outcome
    text: str
    """What the user sees."""
    final_text: str = ""
    """The answer that was let through; empty for every other outcome."""
    citations: tuple[Citation, ...] = ()
    guardrail: Guardrail = field(default_factory=Guardrail)
    kind: str | None = None
    removed: int = 0
    """Citation markers that pointed nowhere and were taken out."""


def fixed_end(outcome: Outcome, text: str, *, kind: str | None = None, rule: str | None = None) -> Ending:
    """An end with a fixed text, before anything was written: escalation, refusal, abstention."""
    return Ending(outcome, text, kind=kind, guardrail=Guardrail(rule_ids=[rule] if rule else []))


def withheld(outcome: Outcome, texts: Fixed, sources: Sequence[Source], guardrail: Guardrail) -> Ending:
    """An end in which an answer was written and is not shown: a neutral sentence and the list of sources."""
    lines = [texts.withhold(outcome)]
    if sources:
        lines += ["", texts.withheld_sources, *(f"{source.n}. {source.title}" for source in sources)]
    return Ending(outcome, "\n".join(lines), guardrail=guardrail)


def repaired(text: str, sources: Sequence[Source]) -> Repaired:
    """An answer with links dropped and citations put right: before the rules, since it may join what was apart."""
    return repair(drop_links(text), len(sources))


def judged_end(
    answer: Repaired,
    verdict: JudgeVerdict,
    guard: OutputGuard,
    texts: Fixed,
    sources: Sequence[Source],
    *,
    own: Sequence[str],
    judge_closed: bool,
) -> Ending:
    """Act on the self-check and let the answer through, or withhold it.

    A rewritten text passes repair and rules like any other; an answer that cites nothing is ungrounded. The user's own
    values come from the app and not from a source: they are put before the answer when it stands.
    """
    if verdict.status in ("blocked", "ungrounded"):
        return withheld(verdict.status, texts, sources, Guardrail(status=verdict.status, judge=verdict.status))
    if verdict.status == "judge_error" and judge_closed:
        return withheld("guard_error", texts, sources, Guardrail(judge="judge_error"))
    rewritten = verdict.status == "rewritten"
    if rewritten:
        answer = repaired(verdict.text, sources)
        checked = guard.check(answer.text)
        if checked.status != "ok":
            guardrail = rules_guardrail(checked.status, checked.rule_ids, "rewritten")
            return withheld(checked.status, texts, sources, guardrail)
    guardrail = Guardrail(status="rewritten" if rewritten else "ok", judge=verdict.status)
    if not answer.cited:
        return withheld("ungrounded", texts, sources, guardrail.model_copy(update={"status": "ungrounded"}))
    text = "\n\n".join([*own, answer.text.strip(), texts.disclaimer])
    cited = tuple(source.citation() for source in sources if source.n in answer.cited)
    return Ending("answered", text, text, cited, guardrail, removed=len(answer.removed))


def rules_guardrail(status: str, rule_ids: Sequence[str], judge: str = "off") -> Guardrail:
    """The record of the rules layer; a rule that failed has no verdict, so its status is `not_run`."""
    shown = "blocked" if status == "blocked" else "not_run"
    return Guardrail.model_validate({"status": shown, "rule_ids": list(rule_ids), "judge": judge})
