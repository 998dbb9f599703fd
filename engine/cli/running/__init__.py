"""Starting, watching, stopping and examining a deployment on one machine."""
