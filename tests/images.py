"""Small images as bytes, made here, and forms of them for data."""

import base64
import struct
import zlib


def png(width=3, height=2, grey=200):
    def part(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    lines = (b"\0" + bytes([grey]) * width) * height
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", zlib.compress(lines)) + part(b"IEND", b"")


def jpeg(width=3, height=2):
    """The header of a JPEG file, with a segment before the one that has the size."""
    before = b"\xff\xe0" + struct.pack(">H", 6) + b"JFIF"
    return b"\xff\xd8" + before + b"\xff\xc0" + struct.pack(">HBHHB", 8, 8, height, width, 1) + b"\xff\xd9"


def gif(width=3, height=2):
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0;"


def webp(kind, width=3, height=2):
    body = {
        "X": bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"),
        "L": b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14),
        " ": bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", width, height),
    }[kind]
    return b"RIFF" + bytes(4) + b"WEBPVP8" + kind.encode() + bytes(4) + body


def data_uri(content, media="image/png"):
    return f"data:{media};base64,{base64.b64encode(content).decode()}"


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
