"""The API of a Patchbay installation: one method for each operation an API key may call."""

from .operations import Operations
from .runtime import FileInput, PatchbayError, StreamEvent, every_page, read_webhook


class Patchbay(Operations):
    """`Patchbay("https://voice.example.com", key).create_agent({...})`; raises PatchbayError where the answer is one."""


__all__ = ["FileInput", "Patchbay", "PatchbayError", "StreamEvent", "every_page", "read_webhook"]
