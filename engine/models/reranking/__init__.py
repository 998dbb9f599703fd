"""Cross-encoders, which read a question and a passage together."""
