"""Text files as they are: their encoding, their line ends, and back again without a byte lost."""

import codecs

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.domain.values import Value

_LOOKED_AT = 8192
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins like that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_IMAGES = ((b"\x89PNG\r\n", "PNG"), (b"\xff\xd8\xff", "JPEG"), (b"GIF8", "GIF"), (b"BM", "BMP"))


class Encoding(Value):
    """`mark` are the bytes that a file begins with to tell it."""

    name: str = "utf-8"
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        """In UTF-8 where the encoding has no such characters. Raises: ToolError."""
        try:
            return self.mark + text.encode(self.name)
        except UnicodeEncodeError:
            pass
        try:
            return text.encode()
        except UnicodeEncodeError as error:
            raise ToolError(Code.NOT_TEXT, detail=str(error)) from error


UTF_8 = Encoding()


def decode(data: bytes, path: str) -> tuple[str, Encoding]:
    """Raises: ToolError for what is no text."""
    for mark, name in _BOMS:
        if data.startswith(mark):
            return _exactly(data[len(mark) :], path, (name,)), Encoding(name, mark)
    if b"\0" in data[:_LOOKED_AT]:
        raise ToolError(Code.FILE_NOT_TEXT, path=path)
    for name in ("utf-8", "gb18030", "cp1252", "latin-1"):
        try:
            text = data.decode(name)
        except UnicodeDecodeError:
            continue
        if text.encode(name) == data and (name != "gb18030" or _looks_chinese(text)):
            return text, Encoding(name)
    raise ToolError(Code.FILE_NOT_TEXT, path=path)


def _exactly(data: bytes, path: str, names: tuple[str, ...]) -> str:
    for name in names:
        try:
            text = data.decode(name)
        except UnicodeDecodeError as error:
            raise ToolError(Code.FILE_NOT_TEXT, path=path) from error
        if text.encode(name) == data:
            return text
    raise ToolError(Code.FILE_NOT_TEXT, path=path)


def _looks_chinese(text: str) -> bool:
    """Western text in an old encoding can be read as this one, too: then its characters are rare ones."""
    foreign = [character for character in text if ord(character) > 127]
    usual = sum("\u4e00" <= character <= "\u9fa5" or "\u3000" <= character <= "\u303f" for character in foreign)
    usual += sum("\uff00" <= character <= "\uffef" or character in "“”‘’—…·" for character in foreign)
    return usual * 10 >= len(foreign) * 9


def has_windows_ends(text: str) -> bool:
    return text.count("\r\n") * 2 > text.count("\n")


def with_windows_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def image_kind(data: bytes) -> str | None:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WebP"
    return next((name for start, name in _IMAGES if data.startswith(start)), None)
