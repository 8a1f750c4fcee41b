"""Images in requests: which models see, what they cost, and what the servers of OpenAI and Anthropic receive."""

import asyncio
from dataclasses import replace

import pytest

from ragstone.errors import Skip, UsageError
from ragstone.http.client import HttpClient
from ragstone.llm.base import IMAGE_LABEL, Message, Request, SentImage, estimate_request
from ragstone.llm.cache import request_key
from ragstone.llm.gateway import Gateway, GatewaySettings, open_batches
from ragstone.llm.vision import find_vision, take_images
from ragstone.storage.images import Located, Pictured
from tests.images import SVG, data_uri, png

IMAGE = SentImage("image/png", "AAAA", 765)
LINKED = SentImage("", "https://example.org/a.png", 765)
ASKED = Request((Message("system", "Judge."), Message("user", "q", images=(IMAGE, LINKED))))


@pytest.mark.parametrize(
    ("model", "size", "tokens"),
    [
        # 1024 → 768: 2 × 2 tiles. 4096 × 2048 → 2048 × 1024 → 1536 × 768: 3 × 2 tiles. Both are examples of OpenAI.
        ("openai/gpt-4o", (1024, 1024), 85 + 4 * 170),
        ("openai/gpt-4o-2024-08-06", (2048, 4096), 85 + 6 * 170),
        ("openai/gpt-4o-mini", (1024, 1024), 2833 + 4 * 5667),
        ("dial/gpt-4o", (100, 100), 85 + 170),
        # 32 × 32 patches of 32 pixels, times 1.62.
        ("openrouter/openai/gpt-5-mini", (1024, 1024), 1659),
        ("anthropic/claude-sonnet-4-5", (1000, 1000), 1334),
        ("anthropic/claude-3-haiku", (3136, 3136), 1600),
        ("gemini/gemini-2.0-flash", (800, 700), 2 * 258),
        ("vllm/Qwen/Qwen2.5-VL-7B-Instruct", (280, 280), 100),
    ],
)
def test_models_that_see(model, size, tokens):
    assert find_vision(model).tokens(*size) == tokens


@pytest.mark.parametrize("model", ["openai/o3-mini", "ollama/llama3.1", "local", "mine.py:judge", "openai/", "", None])
def test_models_that_do_not(model):
    assert find_vision(model) is None


def test_the_option_overrides_the_list():
    assert find_vision("openai/gpt-4o", "off") is None
    assert find_vision("openai/mine", "on").tokens(1024, 1024) == 765
    with pytest.raises(UsageError, match="no images"):
        find_vision("mine.py:judge", "on")
    with pytest.raises(UsageError, match="no images"):
        find_vision(print, "on")


def test_tokens_of_images_are_estimated():
    bare = replace(ASKED, messages=(ASKED.messages[0], Message("user", "q")))
    label = (
        estimate_request(Request((Message("user", IMAGE_LABEL),)))[0]
        - estimate_request(Request((Message("user", ""),)))[0]
    )
    assert estimate_request(ASKED)[0] - estimate_request(bare)[0] == 2 * (765 + label)


def test_another_image_is_another_request():
    other = replace(
        ASKED, messages=(ASKED.messages[0], Message("user", "q", images=(IMAGE._replace(data="AAAB"), LINKED)))
    )
    bare = replace(ASKED, messages=(ASKED.messages[0], Message("user", "q")))
    assert len({request_key("m", "", one) for one in (ASKED, other, bare)}) == 3


def label(number):
    return {"type": "text", "text": IMAGE_LABEL.format(number)}


def test_openai_receives_content_parts(loopback, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    loopback.handler = lambda asked: {"choices": [{"message": {"content": "fine"}}]}

    async def run():
        gateway = Gateway(GatewaySettings(base_url=loopback.url))
        try:
            await gateway.open_llm("openai/gpt-4o").complete(ASKED)
        finally:
            await gateway.close()

    asyncio.run(run())
    assert loopback.asked[0].json["messages"] == [
        {"role": "system", "content": "Judge."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "q"},
                label(1),
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "high"}},
                label(2),
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "high"}},
            ],
        },
    ]


def test_anthropic_receives_content_parts(loopback, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-1")
    loopback.handler = lambda asked: {"content": [{"type": "text", "text": "fine"}]}

    async def run():
        client = HttpClient()
        try:
            await open_batches("anthropic/claude-x", loopback.url, None, client, 5).llm.complete(ASKED)
        finally:
            await client.close()

    asyncio.run(run())
    assert loopback.asked[0].json["system"] == "Judge."
    assert loopback.asked[0].json["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "q"},
                label(1),
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                label(2),
                {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
            ],
        },
    ]


VISION = find_vision("openai/gpt-4o")


def test_data_refers_to_its_images(tmp_path):
    (tmp_path / "a.png").write_bytes(png(600, 10))
    chunks = [
        "No image. See [Image 1] and [ image 2].",
        Pictured("Fares.", Located("a.png", str(tmp_path))),
        Pictured("", "https://example.org/b.png"),
    ]
    data, images = take_images({"question": "q", "chunks": chunks}, VISION)
    assert data["chunks"] == ["No image. See [ Image 1] and [  image 2].", "Fares.\n[image 1]", "[image 2]"]
    assert [(image.media, image.tokens) for image in images] == [("image/png", 85 + 2 * 170), ("", 765)]
    assert images[0].url == data_uri(png(600, 10))


@pytest.mark.parametrize("image", [data_uri(SVG), "a.png", "http://example.org/a.png", "file:///etc/passwd"])
def test_an_image_that_cannot_be_sent(image):
    with pytest.raises(Skip, match="a chunk is an image that cannot be sent: "):
        take_images({"chunks": [Pictured("", image)]}, VISION)
    data = {"chunks": [Pictured("Its text is read.", image)]}
    assert take_images(data, VISION) == (data, ())
