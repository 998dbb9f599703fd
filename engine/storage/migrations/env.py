"""Alembic's entry: migrations run on the connection that `engine.storage.migrate` hands in."""

from alembic import context

from engine.storage.schema import metadata

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    version_table="schema_version",
    version_table_schema="telemetry",
)
with context.begin_transaction():
    context.run_migrations()
