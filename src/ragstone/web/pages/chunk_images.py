"""Images of chunks: checked bytes under our own address. Files outside the data's folder and foreign addresses are not read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from starlette.datastructures import QueryParams

from ragstone.analysis.sample_evidence import Case, read_cases_at
from ragstone.storage.images import ImageError, read_picture
from ragstone.storage.runs import Run
from ragstone.views.sample import ChunkView
from ragstone.web.library import Library
from ragstone.web.navigation import NotFoundError, required_number

# Further images of a page are only named.
_MOST_IMAGES = 50


def image_file(library: Library, query: QueryParams, run: str, row: str, rank: str) -> dict[str, Any]:
    """The image of a chunk."""
    del query
    found, at, place = library.run(run), required_number(row, "sample"), required_number(rank, "chunk")
    case = read_cases_at(found, [at - 1], ()).get(at - 1) if at > 0 else None
    chunks = (case.sample.contexts if case else None) or []
    image = chunks[place - 1].image if 0 < place <= len(chunks) else None
    if image is None:
        raise NotFoundError("there is no such image")
    try:
        picture = read_picture(image)
    except ImageError as error:
        raise NotFoundError(str(error)) from None
    about = {"media": picture.media, "width": picture.width, "height": picture.height, "bytes": len(picture.data)}
    return {"picture": picture, **about}


def with_images(run: Run, row: int, chunks: Sequence[ChunkView] | None, case: Case) -> list[ChunkView] | None:
    """The chunks with the addresses of their images, or the reasons why they are not shown."""
    if chunks is None:
        return None
    left = _MOST_IMAGES
    shown = []
    for chunk, given in zip(chunks, case.sample.contexts or (), strict=False):
        image = chunk.image
        if image and given.image and not image.address:
            left -= 1
            try:
                picture = read_picture(given.image) if left >= 0 else None
                src = f"/runs/{run.id}/samples/{row}/images/{chunk.rank}"
                image = replace(image, src=src, width=picture.width, height=picture.height) if picture else image
            except ImageError as error:
                image = replace(image, note=str(error))
        shown.append(replace(chunk, image=image))
    return shown


VIEWS = {"/runs/{run}/samples/{row}/images/{rank}": image_file}
