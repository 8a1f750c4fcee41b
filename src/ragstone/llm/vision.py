"""Images in requests: which models see them, how many tokens they cost, and how data with images becomes a message."""

from __future__ import annotations

import math
import re
import tomllib
from base64 import b64encode
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from ragstone.errors import Skip, UsageError
from ragstone.llm.base import SentImage
from ragstone.llm.prompts.fence import Data
from ragstone.llm.user_code import split_file_name
from ragstone.storage.images import ImageError, Pictured, is_address, read_picture

# The sides of an image of which only the address is known.
_ASSUMED = (1024, 1024)
# What refers to an image, so that a text cannot name the image of another chunk.
_REFERENCE = re.compile(r"\[(?=\s*image\s*\d)", re.IGNORECASE)


class Vision(NamedTuple):
    """How a model counts the tokens of an image; vision.toml explains the numbers."""

    each: float
    first: float = 0
    long: float = math.inf
    short: float = math.inf
    size: int = 1
    most: float = math.inf

    def tokens(self, width: int, height: int) -> int:
        """The tokens of an image of this size."""
        shrink = min(1.0, self.long / max(width, height))
        shrink = min(shrink, self.short / min(width, height))
        across, down = (math.ceil(round(side * shrink) / self.size) for side in (width, height))
        return math.ceil(self.first + self.each * min(across * down, self.most))


def find_vision(model: Any, images: str = "auto") -> Vision | None:
    """The rule of a model that gets images, or None. `images` is auto, on or off."""
    if images == "off":
        return None
    takes_text = callable(model) or (isinstance(model, str) and split_file_name(model) is not None)
    if images == "on" and takes_text and not hasattr(model, "complete"):
        raise UsageError("your own function gets a text and no images: leave out --images on.")
    name = model.strip().lower() if isinstance(model, str) and not takes_text else ""
    names = [name.split("/", start)[-1] for start in range(1, 1 + name.count("/"))]
    known = _known()
    prefixes = [prefix for prefix in known if prefix and any(one.startswith(prefix) for one in names)]
    return (known[max(prefixes, key=len)] if prefixes else None) or (known[""] if images == "on" else None)


@cache
def _known() -> dict[str, Vision | None]:
    """The rules by the beginnings of names; None for models that see nothing."""
    table = tomllib.loads((resources.files("ragstone.llm") / "vision.toml").read_text(encoding="utf-8"))
    return {
        prefix: Vision(**table["rules"][rule.pop("rule")], **rule) if rule else None
        for prefix, rule in table["models"].items()
    }


def take_images(data: Data, vision: Vision) -> tuple[Data, tuple[SentImage, ...]]:
    """The data with references to its images, and the images. A chunk of which neither text nor image can be read is a Skip."""
    images: list[SentImage] = []

    def refer(item: str) -> str:
        text = _REFERENCE.sub("[ ", item)
        if isinstance(item, Pictured) and (image := _load(item, vision)):
            images.append(image)
            text = f"{text}\n[image {len(images)}]".strip()
        return text

    shown = {name: refer(value) if isinstance(value, str) else [*map(refer, value)] for name, value in data.items()}
    return (shown, tuple(images)) if images else (data, ())


def _load(item: Pictured, vision: Vision) -> SentImage | None:
    """The image of a chunk; None if it cannot be read and the chunk has a text."""
    try:
        if is_address(item.image):
            if not item.image[:8].lower().startswith("https://"):
                raise ImageError("only https addresses of images are sent")
            return SentImage("", str(item.image), vision.tokens(*_ASSUMED))
        picture = read_picture(item.image)
    except ImageError as error:
        if item.strip():
            return None
        raise Skip(f"a chunk is an image that cannot be sent: {error}") from None
    tokens = vision.tokens(picture.width, picture.height)
    return SentImage(picture.media, b64encode(picture.data).decode(), tokens)
