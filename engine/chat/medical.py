"""The medical chat: its stages in order."""

import asyncio
from dataclasses import dataclass

from engine.chat.answer.base import Answerer
from engine.chat.context import snapshot
from engine.chat.fixed import fixed
from engine.chat.outcome import Ending, fixed_end, judged_end, repaired, rules_guardrail, withheld
from engine.chat.own_values import own_values
from engine.chat.prompt import build_prompt
from engine.chat.router import route
from engine.chat.sources import Sanitise, build_sources
from engine.chat.trace import ChatTrace
from engine.guardrails.judge import Judge
from engine.guardrails.output import OutputGuard
from engine.guardrails.refusal import RefusalGate
from engine.guardrails.rules import RuleError
from engine.guardrails.urgent import UrgentGate
from engine.retrieval.gate import gate
from engine.retrieval.query import has_topic
from engine.retrieval.search import CorpusSearch
from engine.settings import Region
from engine.wire import AskRequest, Guardrail
from engine.wire.fields import Lang


@dataclass(frozen=True)
class MedicalRoom:
    """All that the medical chat works with; `app` hands it in."""

    urgent: UrgentGate
    refusal: RefusalGate
    search: CorpusSearch
    sanitise: Sanitise
    answerer: Answerer
    output: OutputGuard
    judge: Judge
    judge_closed: bool
    region: Region | None


async def answer_medical(ask: AskRequest, lang: Lang, room: MedicalRoom, trace: ChatTrace) -> Ending:
    """Answer one question from the corpus, or say why not; a rule that fails withholds the answer."""
    try:
        return await _stages(ask, lang, room, trace)
    except RuleError:
        return withheld("guard_error", fixed(lang), (), Guardrail())


async def _stages(ask: AskRequest, lang: Lang, room: MedicalRoom, trace: ChatTrace) -> Ending:
    """The stages in order. No text leaves before the guards have finished."""
    texts = fixed(lang)
    with trace.stage("urgent"):
        urgent = await asyncio.to_thread(room.urgent.check, ask.question)
        trace.shadow_rule_ids += urgent.shadow
    if urgent.urgent:
        return fixed_end("escalated", texts.escalate(urgent.kind, room.region), kind=urgent.kind, rule=urgent.rule_id)
    with trace.stage("route"):
        route(ask.chat)
    with trace.stage("refusal"):
        refusal = await asyncio.to_thread(room.refusal.check, ask.question)
        trace.shadow_rule_ids += refusal.shadow
    if refusal.refused:
        return fixed_end("refused", texts.refuse(refusal.category), kind=refusal.category, rule=refusal.rule_id)
    asked = await room.search.complete(ask.question, ask.history)
    if not has_topic(asked.text):
        return fixed_end("abstained", texts.abstention)
    with trace.stage("retrieval") as stage:
        found = await room.search.find(await room.search.query(asked.text), lang)
        stage.detail.update(found.summary(), **asked.summary())
    with trace.stage("gate") as stage:
        gated = gate(found.documents, room.search.threshold)
        stage.detail.update(threshold=room.search.threshold, kept=len(gated.kept), cut=gated.cut)
    trace.saw(found, gated)
    if gated.abstain:
        return fixed_end("abstained", texts.abstention)
    with trace.stage("context"):
        known = snapshot(ask.context, texts, lang, room.sanitise)
        own = own_values(ask.context.biomarkers, ask.question, gated.kept[0].best.candidate.title, texts, lang)
    with trace.stage("prompt") as stage:
        sources = build_sources(gated.kept, room.sanitise)
        prompt = build_prompt(ask.question, lang, sources.items, known, ask.history)
        stage.detail.update(sources.summary(), characters=prompt.layers)
        trace.shadow_rule_ids += sources.shadow_rule_ids
    with trace.stage("answer"):
        draft = await room.answerer.answer(ask.question, lang, sources.items, prompt)
        answer = repaired(draft.text, sources.items)
        trace.used(draft)
    with trace.stage("rules"):
        verdict = await asyncio.to_thread(room.output.check, answer.text)
        own = [line for line in own if (await asyncio.to_thread(room.output.check, line)).status == "ok"]
        trace.shadow_rule_ids += verdict.shadow_rule_ids
    if verdict.status != "ok":
        return withheld(verdict.status, texts, sources.items, rules_guardrail(verdict.status, verdict.rule_ids))
    with trace.stage("judge"):
        judged = await room.judge.check(ask.question, sources.texts(), answer.text)
        trace.count(judged.tokens)
    with trace.stage("citations") as stage:
        closed = room.judge_closed
        ending = judged_end(answer, judged, room.output, texts, sources.items, own=own, judge_closed=closed)
        stage.detail.update(cited=len(ending.citations), removed=ending.removed)
    return ending
