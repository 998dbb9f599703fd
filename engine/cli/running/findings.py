"""One line of `doctor`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.cli.errors import KNOWN, CommandError

EXPECTED: tuple[type[Exception], ...] = (CommandError, *KNOWN)
"""Errors whose text can be shown as it stands."""


@dataclass(frozen=True)
class Finding:
    """What was looked at, whether it is as it should be, what was found, and what to do when it is not."""

    name: str
    ok: bool
    found: str
    cure: str = ""


Check = Callable[[], Iterator[Finding]]


def guarded(name: str, check: Check) -> list[Finding]:
    """The findings of a check; a fault inside it is a finding as well."""
    findings: list[Finding] = []
    try:
        findings.extend(check())
    except EXPECTED as error:
        findings.append(Finding(name, False, " ".join(str(error).split())))
    except Exception as error:
        findings.append(Finding(name, False, f"cannot be examined ({type(error).__name__})", "See --debug."))
    return findings
