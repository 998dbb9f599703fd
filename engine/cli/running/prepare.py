"""What stands between a fresh machine and a system that answers: database, schema, corpus, recorded runs."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from rich.console import Console

from engine.app import connect
from engine.cli.corpus import bring_up_to_date, seed_with_progress
from engine.cli.eval_records import import_line, import_recorded
from engine.cli.running.deployment import Deployment
from engine.storage.embedded import ConnectionUrls
from engine.storage.migrate import admin_connection


def prepare(deployment: Deployment, out: Console) -> ConnectionUrls:
    """Bring all of it to the present state; each step is whole or not done, and safe to repeat."""
    with _step(out, "Database") as say:
        urls = connect(deployment.settings)
        say("embedded" if deployment.embedded else "your own")
    with _step(out, "Schema") as say:
        done = bring_up_to_date(deployment.settings, urls, with_bootstrap=_is_bare(urls.admin))
        say(f"migrated: {', '.join(done)}" if done else "up to date")
    with _step(out, "Corpus") as say:
        report = seed_with_progress(deployment.settings, urls)
        made = report.added + report.changed
        say(f"{made + report.unchanged} documents, {report.chunks} chunks ({made} new, {report.removed} removed)")
    with _step(out, "Recorded runs") as say:
        # A damaged file hinders no start: `anamnesis eval import` names it.
        say(import_line(import_recorded(urls)))
    return urls


def _is_bare(admin_url: str) -> bool:
    """Whether roles and schemas are still to be made; that takes an administrator, the rest does not."""
    with admin_connection(admin_url) as connection:
        found = connection.execute(
            sa.text(
                "SELECT to_regnamespace('metrics') IS NULL OR (SELECT count(*) FROM pg_roles "
                "WHERE rolname IN ('anamnesis_owner', 'anamnesis_engine', 'anamnesis_console')) < 3"
            )
        )
        return bool(found.scalar_one())


@contextmanager
def _step(out: Console, name: str) -> Iterator[Callable[[str], None]]:
    """Print a line when a step is done; a step that fails prints none."""
    began = time.monotonic()
    words: list[str] = []
    yield words.append
    out.print(
        f"[green]✓[/] {name}: {' '.join(words)} [dim]{time.monotonic() - began:.1f} s[/]",
        highlight=False,
        soft_wrap=True,
    )
