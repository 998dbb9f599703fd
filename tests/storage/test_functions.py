"""Functions and views are replaced as a whole, and a change of them does not hold up everybody."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.storage import migrate as migration
from engine.storage import waits
from engine.storage.embedded import ConnectionUrls
from engine.storage.errors import StorageError
from engine.storage.migrate import admin_connection, migrate, owner_connection
from engine.storage.schema import GLOBAL_USER_ID
from tests.storage.scratch import scratch_database


@pytest.fixture
def scratch(urls: ConnectionUrls) -> Iterator[ConnectionUrls]:
    with scratch_database(urls, "functions") as other:
        yield other


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of migrations and functions that a test may change."""
    for name in ("functions", "migrations"):
        shutil.copytree(migration.HERE / name, tmp_path / name)
    monkeypatch.setattr(migration, "HERE", tmp_path)
    return tmp_path / "functions"


def _change(script: Path, *changes: tuple[str, str]) -> None:
    text = script.read_text(encoding="utf-8")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    script.write_text(text, encoding="utf-8")


def _searches(admin_url: str) -> list[str]:
    """What every function of this name gives back."""
    query = sa.text(
        "SELECT pg_get_function_result(oid) FROM pg_proc "
        "WHERE proname = 'search' AND pronamespace = CAST('knowledge' AS regnamespace)"
    )
    with owner_connection(admin_url) as connection:
        return list(connection.execute(query).scalars())


def test_a_function_may_change_its_result(scratch: ConnectionUrls, scripts: Path) -> None:
    _change(
        scripts / "search.sql",
        ("rarity float8[]\n)", "rarity float8[], kind text\n)"),
        ("FROM slot)::float8[]\n", "FROM slot)::float8[], d.kind\n"),
    )
    assert migrate(scratch.admin) == ["functions"]
    assert [result.endswith("kind text)") for result in _searches(scratch.admin)] == [True]


def test_a_function_that_changes_its_parameters_leaves_no_second_one(scratch: ConnectionUrls, scripts: Path) -> None:
    _change(
        scripts / "search.sql",
        ("p_pool integer, p_slots", "p_pool bigint, p_slots"),
        ("text[], text[], integer, integer[])", "text[], text[], bigint, integer[])"),
    )
    assert migrate(scratch.admin) == ["functions"]
    assert len(_searches(scratch.admin)) == 1


@pytest.mark.timeout(60)
def test_a_migration_gives_up_where_it_would_hold_up_readers(
    scratch: ConnectionUrls, scripts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waits, "LOCK_SECONDS", 1)
    with (scripts / "search.sql").open("a", encoding="utf-8") as script:
        script.write("-- changed\n")
    with admin_connection(scratch.console) as reader:
        reader.exec_driver_sql("SELECT count(*) FROM metrics.message")
        with pytest.raises(StorageError, match="holds a lock"):
            migrate(scratch.admin)
    assert migrate(scratch.admin) == ["functions"]


def test_what_runs_as_the_owner_looks_into_temporary_schemas_last(owner: Connection) -> None:
    paths = owner.execute(
        sa.text(
            "SELECT p.oid::regprocedure::text, coalesce(array_to_string(p.proconfig, ';'), '') FROM pg_proc p "
            "  JOIN pg_namespace n ON n.oid = p.pronamespace "
            "  JOIN pg_roles r ON r.oid = n.nspowner WHERE p.prosecdef AND r.rolname = 'anamnesis_owner'"
        )
    ).all()
    assert paths
    assert [name for name, path in paths if not path.endswith(", pg_temp")] == []


def test_sql_and_python_name_the_same_owner_of_the_corpus(owner: Connection) -> None:
    """SQL cannot import the constant: its own copies must be this one."""
    sentinel = str(GLOBAL_USER_ID)
    policies = owner.execute(
        sa.text("SELECT format('%s.%s', schemaname, tablename), qual, with_check FROM pg_policies")
    ).all()
    assert len(policies) >= 3
    assert [table for table, seen, written in policies if sentinel not in seen or sentinel not in written] == []
    for function in ("knowledge.tenant()", "knowledge.scope_user(text)"):
        source = owner.execute(
            sa.text("SELECT prosrc FROM pg_proc WHERE oid = CAST(:name AS regprocedure)"), {"name": function}
        ).scalar_one()
        assert sentinel in source
    view = owner.execute(sa.text("SELECT pg_get_viewdef('metrics.corpus_language'::regclass)")).scalar_one()
    assert sentinel in view
