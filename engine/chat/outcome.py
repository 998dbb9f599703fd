"""How a question ends: the text that is shown, what stands in the record, and why."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.chat.fixed import Fixed
from engine.chat.sources import Source
from engine.guardrails.citations import drop_links, repair
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


def judged_end(
    draft: str,
    verdict: JudgeVerdict,
    guard: OutputGuard,
    texts: Fixed,
    sources: Sequence[Source],
    *,
    judge_closed: bool,
) -> Ending:
    """Act on the self-check, repair citations and let the answer through, or withhold it.

    A rewritten text passes the rules and the citation check like any other; an answer that cites nothing is ungrounded.
    """
    if verdict.status in ("blocked", "ungrounded"):
        return withheld(verdict.status, texts, sources, Guardrail(status=verdict.status, judge=verdict.status))
    if verdict.status == "judge_error" and judge_closed:
        return withheld("guard_error", texts, sources, Guardrail(judge="judge_error"))
    text = draft
    if verdict.status == "rewritten":
        checked = guard.check(verdict.text)
        if checked.status != "ok":
            return withheld(
                checked.status, texts, sources, rules_guardrail(checked.status, checked.rule_ids, "rewritten")
            )
        text = verdict.text
    repaired = repair(drop_links(text), len(sources))
    guardrail = Guardrail(status="rewritten" if verdict.status == "rewritten" else "ok", judge=verdict.status)
    if not repaired.cited:
        return withheld("ungrounded", texts, sources, guardrail.model_copy(update={"status": "ungrounded"}))
    answer = f"{repaired.text.strip()}\n\n{texts.disclaimer}"
    cited = tuple(source.citation() for source in sources if source.n in repaired.cited)
    return Ending("answered", answer, answer, cited, guardrail, removed=len(repaired.removed))


def rules_guardrail(status: str, rule_ids: Sequence[str], judge: str = "off") -> Guardrail:
    """The record of the rules layer; a rule that failed has no verdict, so its status is `not_run`."""
    shown = "blocked" if status == "blocked" else "not_run"
    return Guardrail.model_validate({"status": shown, "rule_ids": list(rule_ids), "judge": judge})
