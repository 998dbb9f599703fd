"""The Dockerfile as instructions, and the files that `.dockerignore` lets through to the builder."""

import fnmatch
import re
import shlex
import shutil
from dataclasses import dataclass, field
from pathlib import Path

Instruction = tuple[str, str]
"""Its word and the rest of the line."""


@dataclass
class Stage:
    """From one FROM to the next."""

    image: str
    name: str
    steps: list[Instruction] = field(default_factory=list)


def instructions(text: str) -> list[Instruction]:
    """Continued lines joined, comments left out."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines)).splitlines()
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in joined)]


def stages(text: str) -> list[Stage]:
    """The instructions by stage; one without a name goes by its number."""
    found: list[Stage] = []
    for word, rest in instructions(text):
        if word == "FROM":
            image, *named = rest.split()
            found.append(Stage(image, named[1] if named else str(len(found))))
        else:
            found[-1].steps.append((word, rest))
    return found


def assignments(rest: str) -> dict[str, str]:
    """What an ENV or ARG sets, variables in it not yet replaced."""
    return {name: value for name, _, value in (word.partition("=") for word in shlex.split(rest))}


def send_context(root: Path, target: Path) -> None:
    """Copy what the builder gets. Understands a `.dockerignore` that forbids all and lets paths through by `!`."""
    lines = (root / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    assert rules[0] == "*", "all is forbidden first"
    hidden = [rule.removeprefix("**/") for rule in rules if rule.startswith("**/")]
    for rule in rules[1:]:
        if not rule.startswith("!"):
            assert rule.startswith("**/"), f"not understood: {rule}"
            continue
        source = root / rule[1:]
        place = target / rule[1:]
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(
                source,
                place,
                dirs_exist_ok=True,
                ignore=lambda _, names: [name for name in names if any(fnmatch.fnmatch(name, one) for one in hidden)],
            )
        else:
            shutil.copy2(source, place)
