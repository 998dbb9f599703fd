"""Ways to answer a question from its sources."""
