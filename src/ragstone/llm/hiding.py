"""Keys taken out of other people's words: servers and libraries quote them in their errors."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|gsk|xai|key)[-_][A-Za-z0-9_\-]{8,}")
_SECRET_VARIABLE = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL")
_MASK = "***"
# Shorter ones, such as the word that a local server takes for a key, would only blot out ordinary words.
SHORTEST_SECRET = 6


def hide_secrets(text: str, known: Iterable[str] = ()) -> str:
    """A text without the known secrets, those of the environment, and whatever looks like a key."""
    from_environment = (value for name, value in os.environ.items() if _SECRET_VARIABLE.search(name.upper()))
    secrets = {secret for secret in (*known, *from_environment) if len(secret) >= SHORTEST_SECRET}
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, _MASK)
    return _KEY_LIKE.sub(_MASK, text)
