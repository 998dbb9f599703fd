"""Find, fuse, score and gate."""
