"""The quality page."""

from console import access, auth
from console.views import quality

auth.require(access.PAGE_ROLES["quality"])
quality.render()
