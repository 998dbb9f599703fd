"""SQL over the metrics views: every function takes a connection and gives aggregates, never raw rows."""
