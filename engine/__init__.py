"""Anamnesis: the headless engine of a consumer-health assistant."""

import os

# Before numpy is loaded: its worker threads spin for a while after each product, and the processor they take is the
# database's or the other encoder's. Our products are small; one thread takes no longer (decision 13).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__version__ = "0.1.0"
