"""Anamnesis: the headless engine of a consumer-health assistant."""

__version__ = "0.1.0"
