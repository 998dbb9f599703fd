"""Commands on the schema and the corpus: `migrate`, `seed`, `reembed`."""

from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress as Bar

from engine.app import connect, has_own_database, seed_corpus, write_vectors
from engine.cli.batch import emit
from engine.cli.options import AsJson
from engine.cli.progress import set_progress
from engine.knowledge.seeding import SeedReport
from engine.settings import Settings, load_settings
from engine.storage.embedded import ConnectionUrls
from engine.storage.migrate import bootstrap
from engine.storage.migrate import migrate as run_migrations

AllowRemoval = Annotated[
    bool,
    typer.Option("--allow-removal", help="Even where half of the stored documents or more are not on disk any more."),
]


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""

    @app.command(epilog="Example: anamnesis migrate --bootstrap")
    def migrate(
        with_bootstrap: Annotated[
            bool, typer.Option("--bootstrap", help="First make extension, roles and schemas, as the administrator.")
        ] = False,
        as_json: AsJson = False,
    ) -> None:
        """Bring the database to the present schema; nothing happens where it is there already."""
        settings = load_settings()
        done = bring_up_to_date(settings, connect(settings), with_bootstrap=with_bootstrap)
        if as_json:
            emit({"done": done})
        else:
            Console().print(f"Migrated: {', '.join(done)}." if done else "The schema is up to date.")

    @app.command(epilog="Example: anamnesis seed")
    def seed(allow_removal: AllowRemoval = False, as_json: AsJson = False) -> None:
        """Store the corpus; unchanged documents are left alone."""
        _seed(as_json, reembed=False, allow_removal=allow_removal)

    @app.command(epilog="Example: ANAMNESIS_EMBEDDER=use anamnesis reembed")
    def reembed(allow_removal: AllowRemoval = False, as_json: AsJson = False) -> None:
        """Embed the corpus anew with the active models.

        The former vectors serve until all is done; interrupted, the next call goes on from there.
        """
        _seed(as_json, reembed=True, allow_removal=allow_removal)

    @app.command(epilog="Example: anamnesis vectors")
    def vectors(as_json: AsJson = False) -> None:
        """Embed the corpus on disk and write the vectors beside it, for a quick first start elsewhere."""
        with set_progress(as_json) as progress:
            written = write_vectors(load_settings(), progress=progress)
        if as_json:
            emit(written)
        else:
            Console().print(", ".join(f"{space}: {count} vectors" for space, count in written.items()) + ".")


def bring_up_to_date(settings: Settings, urls: ConnectionUrls, *, with_bootstrap: bool = False) -> list[str]:
    """Migrate; the embedded server is always bootstrapped first, another one when it is asked for."""
    if with_bootstrap or not has_own_database(settings):
        bootstrap(urls.admin, urls.engine, urls.console)
    return run_migrations(urls.admin)


def seed_with_progress(
    settings: Settings, urls: ConnectionUrls, *, reembed: bool = False, allow_removal: bool = False
) -> SeedReport:
    """Seed and show on standard error how far it is."""
    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Embedding the corpus", total=None)
        return seed_corpus(
            settings,
            urls,
            reembed=reembed,
            allow_removal=allow_removal,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )


def _seed(as_json: bool, *, reembed: bool, allow_removal: bool) -> None:
    settings = load_settings()
    urls = connect(settings)
    bring_up_to_date(settings, urls)
    report = seed_with_progress(settings, urls, reembed=reembed, allow_removal=allow_removal)
    if as_json:
        emit(vars(report))
        return
    Console().print(
        f"{report.added} added, {report.changed} changed, {report.removed} removed, {report.unchanged} unchanged; "
        f"{report.chunks} chunks."
    )
    if report.resumed:
        Console().print(f"{report.resumed} of the documents were embedded before the last call was interrupted.")
    if reembed:
        Console().print("A server that is running goes on with its own encoder: restart it if that is another one.")
    if report.own_vectors:
        Console().print(
            f"{report.own_vectors} vectors of users' own documents went with the former model; "
            "until those are embedded anew they are found by their words alone."
        )
