"""The safety page."""

from console import access, auth
from console.views import safety

auth.require(access.PAGE_ROLES["safety"])
safety.render()
