"""Roles, and which of them may open which page."""

from typing import get_args

from engine.wire.staff import Role

ROLES: frozenset[Role] = frozenset(get_args(Role))
"""Every role; `admin` may open everything."""

ADMIN: Role = "admin"

PAGE_ROLES: dict[str, frozenset[Role]] = {
    "quality": ROLES,
    "performance": ROLES,
    "safety": frozenset({"safety", "engineer", "admin"}),
    "usage": ROLES,
    "test_chat": ROLES,
}


def allowed(roles: frozenset[Role], page: str) -> bool:
    """Whether somebody with these roles may open a page."""
    return bool(roles & (PAGE_ROLES[page] | {ADMIN}))
