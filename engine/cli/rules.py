"""The rules' workbench: `rules test`, `rules explain`, `rules diff`. No database, no model."""

import json
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from engine.cli.batch import emit
from engine.cli.errors import CommandError
from engine.cli.options import AsJson
from engine.guardrails.workbench import Change, broken_examples, differences, explain, read_rules

MOST_SHOWN = 40
Place = Annotated[Path, typer.Argument(help="A rule file, or a folder of them.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    room = typer.Typer(help="Try rules out before they are switched on.", no_args_is_help=True)
    app.add_typer(room, name="rules")
    room.command("test", epilog="Example: anamnesis rules test my_rules.yaml")(examples)
    room.command("explain", epilog='Example: anamnesis rules explain "ignore previous instructions"')(explain_text)
    room.command("diff", epilog="Example: anamnesis rules diff old/ new/ --on messages.jsonl")(diff)


def examples(file: Place, as_json: AsJson = False) -> None:
    """Check every example of a rule file; exit code 1 where one does not hold."""
    rules = read_rules(file)
    broken = broken_examples(rules)
    count = sum(len(rule.hits) + len(rule.passes) for rule in rules.rules)
    if as_json:
        emit({"rules": len(rules.rules), "examples": count, "broken": [vars(item) for item in broken]})
    else:
        out = Console()
        for item in broken:
            line = f"{item.file}: {item.rule_id}: should {item.expected}: {item.text}"
            out.print(Text(line, style="red"), soft_wrap=True)
        out.print(f"{len(rules.rules)} rules, {count} examples, {len(broken)} do not hold.", highlight=False)
    if broken:
        raise typer.Exit(1)


def explain_text(
    text: Annotated[str, typer.Argument(help="The text to look at.", show_default=False)],
    rules: Annotated[Path | None, typer.Option(help="A file or folder of rules; by default the shipped ones.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show which rules of which layer hit a text, where, and in what mode."""
    found = explain(text, read_rules(rules))
    if as_json:
        emit({"hits": [{**vars(item.hit), "piece": item.piece} for item in found]})
        return
    if not found:
        Console().print("No rule hits.")
        return
    table = Table("Layer", "Mode", "At", "Piece")
    table.add_column("Rule", overflow="fold")
    for item in found:
        hit = item.hit
        table.add_row(hit.layer, hit.mode, f"{hit.start}-{hit.end}", Text(item.piece), hit.rule_id)
    Console().print(table)


def diff(
    old: Place,
    new: Place,
    on: Annotated[Path, typer.Option("--on", help="Texts: JSON Lines with a `text`, or one a line.")],
    as_json: AsJson = False,
) -> None:
    """Show what a change of rules would newly hit or pass in a file of texts."""
    texts = _texts(on)
    changes = list(differences(read_rules(old), read_rules(new), texts))
    counts = Counter(f"{change.layer}: {change.kind}" for change in changes)
    if as_json:
        emit(
            {"texts": len(texts), "counts": dict(sorted(counts.items())), "changes": [_told(item) for item in changes]}
        )
        return
    out = Console()
    table = Table("Line", "Layer", "Change", "Rules before", "Rules after", "Text")
    for change in changes[:MOST_SHOWN]:
        before, after = (Text("\n".join(ids)) for ids in (change.before, change.after))
        table.add_row(str(change.place + 1), change.layer, change.kind, before, after, Text(texts[change.place][:120]))
    if changes:
        out.print(table)
    if len(changes) > MOST_SHOWN:
        out.print(f"… and {len(changes) - MOST_SHOWN} more; --json has them all.", highlight=False)
    for name, count in sorted(counts.items()):
        out.print(f"{name}: {count}", highlight=False)
    out.print(f"{len(texts)} texts, {len({change.place for change in changes})} changed.", highlight=False)


def _told(change: Change) -> dict[str, object]:
    return {
        "line": change.place + 1,
        "layer": change.layer,
        "kind": change.kind,
        "before": list(change.before),
        "after": list(change.after),
    }


def _texts(path: Path) -> list[str]:
    try:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeError) as error:
        raise CommandError(f"{path}: cannot be read ({type(error).__name__}).") from None
    return [_text(line, f"{path.name}:{number}") for number, line in enumerate(lines, start=1)]


def _text(line: str, where: str) -> str:
    if not line.lstrip().startswith("{"):
        return line
    try:
        found = json.loads(line).get("text")
    except json.JSONDecodeError:
        raise CommandError(f"{where}: no JSON object.") from None
    if not isinstance(found, str):
        raise CommandError(f"{where}: the object has no `text`.")
    return found
