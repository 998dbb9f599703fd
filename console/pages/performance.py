"""The performance page."""

from console import access, auth
from console.views import performance

auth.require(access.PAGE_ROLES["performance"])
performance.render()
