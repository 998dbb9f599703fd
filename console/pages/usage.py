"""The usage page."""

from console import access, auth
from console.views import usage

auth.require(access.PAGE_ROLES["usage"])
usage.render()
