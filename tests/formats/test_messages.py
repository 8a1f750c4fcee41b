"""The text of the user or the assistant in requests and replies."""

import pytest

from ragstone.formats.messages import decode, find_text

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "When?"},
    {"role": "assistant", "content": "At eight."},
    {"role": "user", "content": [{"type": "text", "text": "And"}, {"type": "text", "text": "then?"}]},
]


@pytest.mark.parametrize(
    ("value", "role", "text"),
    [
        (CHAT, "user", "And\nthen?"),
        (CHAT, "assistant", "At eight."),
        (CHAT[:1], "user", None),
        ({"query": "When?", "text": "other"}, "user", "When?"),
        ({"choices": [{"message": CHAT[2]}, {"message": CHAT[1]}]}, "assistant", "At eight."),
        ({"messages": CHAT}, "user", "And\nthen?"),
        ([{"type": "thinking", "text": "hm"}, {"type": "text", "text": "At eight."}], "assistant", "At eight."),
        ({"temperature": 0}, "user", None),
        (None, "user", None),
    ],
)
def test_find_text(value, role, text):
    assert find_text(value, role) == text


def test_only_json_text_is_decoded():
    assert decode('{"a": [1]}') == {"a": [1]}
    assert decode("{broken") == "{broken"
    assert decode("12") == "12"
    assert decode("12", is_json=True) == 12
