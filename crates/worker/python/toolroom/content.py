"""What a tool may return besides data: images, audio, files; and a whole result with hints."""

import os

TYPES = dict(
    pair.split()
    for pair in """png image/png|jpg image/jpeg|jpeg image/jpeg|gif image/gif|webp image/webp|svg image/svg+xml|
    bmp image/bmp|wav audio/wav|mp3 audio/mpeg|ogg audio/ogg|flac audio/flac|m4a audio/mp4|pdf application/pdf|
    json application/json|txt text/plain|md text/markdown|csv text/csv|html text/html|zip application/zip""".split("|")
)
SIGNS = {"png": b"\x89PNG", "jpg": b"\xff\xd8\xff", "gif": b"GIF8", "bmp": b"BM", "ogg": b"OggS", "flac": b"fLaC"}
SIGNS.update(mp3=b"ID3", pdf=b"%PDF", zip=b"PK\x03\x04", svg=b"<svg")
# Up to here in the frame, as base64; beyond in a file, which costs a 25th of that.
INLINE = 48 << 10


class Media:
    """Bytes or a path, with a media type by the name or by the first bytes."""

    kind = "file"

    def __init__(self, source, *, format=None, mime_type=None, name=None):
        self.name = name
        self.bytes = self.path = None
        if isinstance(source, (bytes, bytearray, memoryview)):
            self.bytes = bytes(source)
        elif hasattr(source, "savefig") or (hasattr(source, "save") and not hasattr(source, "__fspath__")):
            # A figure of matplotlib, or a picture of Pillow.
            import io

            buffer = io.BytesIO()
            (source.savefig if hasattr(source, "savefig") else source.save)(buffer, format=format or "png")
            self.bytes, format = buffer.getvalue(), format or "png"
        else:
            self.path = os.fspath(source)
            self.name = name or os.path.basename(self.path)
        self.mime_type = mime_type or (format and TYPES.get(format.lower(), "%s/%s" % (self.kind, format.lower())))

    def read(self):
        if self.bytes is not None:
            return self.bytes
        with open(self.path, "rb") as file:
            return file.read()

    def type_of(self, data):
        if self.mime_type:
            return self.mime_type
        ending = self.name.rpartition(".")[2].lower() if self.name else ""
        if ending in TYPES:
            return TYPES[ending]
        if data[:4] == b"RIFF":
            return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(data[8:12], "application/octet-stream")
        ending = next((ending for ending, sign in SIGNS.items() if data.startswith(sign)), None)
        return TYPES[ending] if ending else "application/octet-stream"

    def block(self):
        """The block for the frame: its bytes in it, or the name of a file in the working folder."""
        data = self.read()
        block = {"type": self.kind, "mimeType": self.type_of(data), "size": len(data)}
        if self.name:
            block["name"] = self.name
        if len(data) <= INLINE:
            from binascii import b2a_base64

            block["data"] = b2a_base64(data, newline=False).decode("ascii")
        else:
            block["file"] = "toolroom-%s" % os.urandom(12).hex()
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
            with open(os.open(block["file"], flags, 0o600), "wb") as file:
                file.write(data)
        return block


class Image(Media):
    """A picture: Image("chart.png"), Image(png_bytes), Image(figure)."""

    kind = "image"


class Audio(Media):
    """A recording: Audio("note.wav")."""

    kind = "audio"


class File(Media):
    """Any file: File("report.pdf"), File(b"a,b", name="table.csv")."""


class ToolResult:
    """Data with content beside it and hints for the agent, which are checked and merged with the computed ones."""

    def __init__(self, data=None, *, content=(), hints=None):
        self.data = data
        self.content = content if isinstance(content, (list, tuple)) else [content]
        self.hints = hints


def body_of(result, lists=False):
    """The body of a `content` frame; None for a result that is data alone. The data beside images and files stands
    alone, unless the hint says that the answer `lists`."""
    if isinstance(result, ToolResult):
        data, content, hints = result.data, result.content, result.hints
    elif isinstance(result, Media):
        data, content, hints = None, [result], None
    elif isinstance(result, (list, tuple)) and any(isinstance(part, Media) for part in result):
        rest = [part for part in result if not isinstance(part, Media)]
        data, hints = (rest if lists else rest[0] if len(rest) == 1 else rest or None), None
        content = [part for part in result if isinstance(part, Media)]
    else:
        return None
    blocks = [part.block() if isinstance(part, Media) else {"type": "text", "text": str(part)} for part in content]
    if data is None:
        # Data is never null: it names what came.
        shown = ("type", "mimeType", "name", "size")
        data = {"content": [{key: block[key] for key in shown if key in block} for block in blocks]}
    body = {"data": data, "blocks": blocks}
    if hints:
        body["agentHints"] = hints
    return body
