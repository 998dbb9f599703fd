"""Benchmarks: how long retrieval takes, and whether it answers the same twice."""
