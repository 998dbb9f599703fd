"""Checks a name and a password through streamlit-authenticator, closing what it leaves open."""

import copy
import secrets
from collections.abc import Mapping

import bcrypt
from streamlit_authenticator.controllers import AuthenticationController

from console.users import COST, LONGEST_PASSWORD, User

_KEY = secrets.token_hex(32)
"""The library wants a key; no token is ever made with it."""

_ANY_HASH_TAIL = "." * 53


class Passwords:
    """The users of one version of the file, in the form that the library wants.

    The library works on a deep copy of its own, so that its counters last and the file is never written to.
    """

    def __init__(self, users: Mapping[str, User]) -> None:
        self._credentials = {
            "usernames": {
                name: {
                    "password": user.password,
                    "first_name": user.first_name,
                    "last_name": "",
                    "email": "",
                    "roles": sorted(user.roles),
                }
                for name, user in copy.deepcopy(dict(users)).items()
            }
        }
        costs = [int(user.password.split("$")[2]) for user in users.values()]
        self._dummy = f"$2b${max(costs, default=COST):02d}${_ANY_HASH_TAIL}".encode()

    def check(self, username: str, password: str) -> bool:
        """Whether the password is this user's; costs one bcrypt check, whatever is wrong."""
        encoded = password.encode("utf-8", "replace")
        if username not in self._credentials["usernames"] or not 0 < len(encoded) <= LONGEST_PASSWORD:
            bcrypt.checkpw(encoded[:LONGEST_PASSWORD], self._dummy)
            return False
        library = AuthenticationController(self._credentials, auto_hash=False, secret_key=_KEY)
        return bool(library.login(username, password))
