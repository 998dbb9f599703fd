"""The keyed hash that stands for a query in logs and metrics."""

import hashlib
import hmac

from engine.settings import MINIMUM_KEY_BYTES


def query_hash(text: str, key: bytes) -> str:
    """HMAC-SHA256 of the folded text, its first 16 hexadecimal digits.

    A plain hash of a short question can be found by trying questions; a keyed one cannot without the key.

    Raises:
        ValueError: the key is shorter than 32 bytes.
    """
    if len(key) < MINIMUM_KEY_BYTES:
        raise ValueError(f"The hash key must have {MINIMUM_KEY_BYTES} bytes or more.")
    folded = " ".join(text.casefold().split())
    return hmac.new(key, folded.encode("utf-8", "ignore"), hashlib.sha256).hexdigest()[:16]
