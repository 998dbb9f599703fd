"""Answers written by a language model in one call; sentences of the sources where the model fails."""

from collections.abc import Sequence
from dataclasses import replace

from engine.chat.answer.base import Answerer, Draft
from engine.chat.prompt import Prompt
from engine.chat.sources import Source
from engine.models.base import LanguageModel, ModelError
from engine.wire.fields import Lang


class ModelAnswerer:
    """Sends the prompt as it is; a model that fails is replaced by the extractive answer, and the trace says so."""

    def __init__(self, model: LanguageModel, fallback: Answerer) -> None:
        self._model = model
        self._fallback = fallback
        self.name = f"llm:{model.model}"

    async def answer(self, question: str, lang: Lang, sources: Sequence[Source], prompt: Prompt) -> Draft:
        try:
            reply = await self._model.complete(prompt.messages)
        except ModelError:
            draft = await self._fallback.answer(question, lang, sources, prompt)
            return replace(draft, author=f"{draft.author} after {self.name} failed")
        return Draft(reply.text, self.name, {"prompt": reply.usage.prompt, "completion": reply.usage.completion})

    async def close(self) -> None:
        await self._model.close()
