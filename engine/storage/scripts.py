"""SQL scripts of several statements, run as they stand."""

from sqlalchemy.engine import Connection


def run_script(connection: Connection, script: str) -> None:
    """Run a script without parameters through the driver's own cursor: with parameters `%` would be a placeholder."""
    cursor = connection.connection.cursor()
    try:
        cursor.execute(script)
    finally:
        cursor.close()
