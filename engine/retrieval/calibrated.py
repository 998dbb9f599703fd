"""Whether order, gate and threshold were made for the active encoders, or are a guess."""

from collections.abc import Sequence

from engine.models.base import Embedder
from engine.retrieval.relevance import has_calibration
from engine.retrieval.trained import trained_model
from engine.settings import Fusion


def trained_for(embedders: Sequence[Embedder], fusion: Fusion) -> bool:
    """Whether a trained order and gate are in force: for these versions of these encoders. Raises ModelError."""
    model = trained_model(_spaces(embedders)) if fusion == "trained" else None
    # The versions are asked for last: those of a large model are found by looking through its files.
    return model is not None and model.coefficients.provenance.get("models") == {
        embedder.space: embedder.model for embedder in embedders
    }


def is_guessed(embedders: Sequence[Embedder], fusion: Fusion) -> bool:
    """Whether these encoders have neither a trained gate nor a calibration of their own. Raises ModelError."""
    return not has_calibration(_spaces(embedders)) and not trained_for(embedders, fusion)


def _spaces(embedders: Sequence[Embedder]) -> tuple[str, ...]:
    return tuple(embedder.space for embedder in embedders)
