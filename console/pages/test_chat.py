"""The test chat page."""

from console import access, auth
from console.views import test_chat

test_chat.render(auth.require(access.PAGE_ROLES["test_chat"]))
