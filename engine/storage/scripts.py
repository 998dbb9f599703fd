"""SQL scripts of several statements, run as they stand."""

from sqlalchemy.engine import Connection


def run_script(connection: Connection, script: str) -> None:
    """Run a script without parameters through the driver's own cursor: with parameters `%` would be a placeholder."""
    with connection.connection.cursor() as cursor:
        cursor.execute(script)
