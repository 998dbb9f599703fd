"""The command-line program `anamnesis`."""
