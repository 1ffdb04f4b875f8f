"""Detection of a text's encoding, and of whether the result is certain.

Certain are byte order marks, valid UTF-8, a declaration in the first lines of the file, and the word of a person or of
`.editorconfig`, unless the bytes contradict it. Everything else is a guess of `chardet`, on which no caller may rely to
write a character outside ASCII. The work is bounded: UTF-8 is decided by one decoding, everything else by
MAX_SAMPLE_BYTES of the lines with bytes over 127.
"""

import codecs
import re
import string
import unicodedata
from typing import Literal

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.domain.value import Value

MAX_SAMPLE_BYTES = 200_000
_HEAD_BYTES = 64 * 1024  # grep, too, treats a file with a zero byte here as binary
_MIN_VALID_PER_INVALID = 9
_MAX_DECLARATION_BYTES = 1024
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is a prefix of this one
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ISO_2022 = ("iso2022_jp", "iso2022_jp_2004", "iso2022_jp_2", "iso2022_kr")
# Characters of several bytes, of which the later ones may look like ASCII.
MULTI_BYTE = ("cp932", "euc_jp", "gb18030", "cp950", "big5hkscs", "cp949")
_SINGLE_BYTE = (
    *("cp1252", "cp1251", "koi8-r", "cp1250", "iso8859-2", "cp1253", "cp1255", "cp1256", "cp874", "iso8859-15"),
    *("koi8-u", "cp866", "iso8859-5", "iso8859-7", "iso8859-8", "iso8859-6", "cp1254", "cp1257", "cp1258", "iso8859-9"),
    *("iso8859-4", "iso8859-13", "cp437", "cp850", "cp852", "mac-roman", "mac-cyrillic"),
)
# The detector names narrow encodings; real files use the additional characters of these supersets.
_SUPERSETS = {
    "shift_jis": "cp932",
    "shift_jis_2004": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "hz": "gb18030",
    "big5": "cp950",
    "big5hkscs": "cp950",
    "euc_kr": "cp949",
    "iso8859-1": "cp1252",
    "latin-1": "cp1252",
    "tis-620": "cp874",
    "euc_jis_2004": "euc_jp",
    "iso8859-11": "cp874",
    "ascii": "utf-8",
}
_NON_FILE_CODECS = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "charmap"})
_NON_ASCII_BYTE = re.compile(rb"[\x80-\xff]")
_INVALID = re.compile("[\udc80-\udcff]{1,3}")  # an incomplete character has up to three bytes
_DECLARATIONS = (
    re.compile(rb"\A(?:[^\n]*\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*([-\w.]+)"),  # PEP 263: in the first two lines
    re.compile(rb"\A<\?xml[^>]*?\sencoding=[\"']([-\w.]+)"),
    re.compile(rb"<meta\s[^>]*?charset=[\"']?([-\w.]+)", re.IGNORECASE),
)
_LETTERS = string.ascii_letters + string.digits
_ASCII_TEXT_BYTES = frozenset(b"\t\n\r" + bytes(range(0x20, 0x7F)))
_CONTROLS = re.compile("[\0-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_OTHER_ALPHABETS = re.compile("[\u0370-\u07ff\u0e00-\u0e7f]")
_MIXED_SCRIPTS = re.compile("[A-Za-z][\u0370-\u07ff\u0e00-\u0e7f]|[\u0370-\u07ff\u0e00-\u0e7f](?=[A-Za-z])")
_C1_CONTROLS = re.compile("[\x80-\x9f]")
# Spaces, line feeds and digits of ASCII decode to these controls in EBCDIC, whose own line ends are U+0085 or U+000A.
_EBCDIC_CONTROLS = re.compile("[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
Charset = Literal["latin-1", "utf-8", "utf-8-bom", "utf-16-le", "utf-16-be"]


class Encoding(Value):
    """An encoding of a file."""

    name: str = "utf-8"
    """The name of a Python codec; UTF-16 and UTF-32 with their byte order."""
    bom: bytes = b""
    """The byte order mark at the beginning of the file."""
    is_certain: bool = True

    def decode(self, data: bytes) -> str:
        """The text after the byte order mark. Invalid bytes become U+FFFD."""
        return data[len(self.bom) :].decode(self.name, "replace")

    def encode(self, text: str, path: str) -> bytes:
        """The bytes without the byte order mark. Raises: ToolError for a character that the encoding lacks."""
        try:
            return text.encode(self.name)
        except UnicodeEncodeError as error:
            character = text[error.start]
            display = character if character.isprintable() else f"U+{ord(character):04X}"
            raise ToolError(Code.NOT_ENCODABLE, path=path, encoding=self.name, character=display) from error


UTF_8 = Encoding()


def detect(data: bytes, charset: Charset | None = None, *, is_cut: bool = False) -> Encoding | None:
    """The encoding of a file, None for a file that is no text. `charset` comes from `.editorconfig` and decides where
    the bytes leave a choice. `is_cut`: `data` is only the beginning of the file, and may end inside a character."""
    for bom, name in _BOMS:
        if data.startswith(bom):
            readable = name == "utf-8" or _decodes(data[len(bom) :], name, is_cut)
            return Encoding(name, bom) if readable else None
    declared = (charset or "utf-8").removesuffix("-bom")
    if b"\0" in data[:_HEAD_BYTES]:
        utf_16 = _utf_16_by_zeros(data, is_cut)
        if utf_16 is None and declared.startswith("utf-16") and _can_be_utf_16_or_32(data, declared, is_cut):
            utf_16 = declared
        return Encoding(utf_16, is_certain=utf_16 == declared) if utf_16 else None
    is_utf_8 = _decodes(data, "utf-8", is_cut)
    if is_utf_8 and not data.isascii():
        return Encoding("utf-8", is_certain=False) if _is_utf_8_by_chance(data) else UTF_8
    in_file = _declaration(data)
    if is_utf_8:
        return _ascii_encoding(data, in_file or declared, is_cut)
    for name in (in_file or declared, declared):
        if name != "utf-8" and _decodes(data, name, is_cut) and not contradicts(data, Encoding(name)):
            return Encoding(name)
    return Encoding(guess(data), is_certain=False)


def _declaration(data: bytes) -> str | None:
    """The encoding declared in the first lines of a script, an XML or an HTML document."""
    head = data[:_MAX_DECLARATION_BYTES]
    match = next(filter(None, (pattern.search(head) for pattern in _DECLARATIONS)), None)
    if match is None:
        return None
    try:
        codec = _codec(match[1].decode("ascii"))
    except ToolError:
        return None
    return codec if _holds_ascii(codec) else None


def encoding_for_new_file(charset: Charset | None) -> Encoding:
    """The encoding in which a new file is written."""
    marks = {"utf-8-bom": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
    return Encoding((charset or "utf-8").removesuffix("-bom"), marks.get(charset or "", b""))


def named_encoding(name: str, data: bytes) -> Encoding:
    """The encoding that a person or a model names, for a file with the content `data`. Raises: ToolError for an unknown
    name."""
    codec = _codec(name)
    bom, bom_codec = next(((bom, codec_of_bom) for bom, codec_of_bom in _BOMS if data.startswith(bom)), (b"", ""))
    if codec in ("utf-16", "utf-32") and bom_codec.startswith(codec):
        codec = bom_codec
    codec = "utf-8" if codec == "utf-8-sig" else codec
    if codec in ("utf-16", "utf-32"):  # the byte order is unknown
        raise ToolError(Code.UNKNOWN_ENCODING, encoding=name)
    return Encoding(codec, bom if codec == bom_codec else b"")


def _codec(name: str) -> str:
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError, UnicodeError) as error:
        raise ToolError(Code.UNKNOWN_ENCODING, encoding=name) from error
    if not getattr(info, "_is_text_encoding", True) or info.name in _NON_FILE_CODECS:
        raise ToolError(Code.UNKNOWN_ENCODING, encoding=name)
    return "latin-1" if info.name == "iso8859-1" else info.name


def contradicts(data: bytes, encoding: Encoding) -> bool:
    """Whether the bytes plainly contradict a named encoding. In a wrong encoding, a person sees other characters than
    programs read: ASCII bytes decoded as UTF-16 are Chinese."""
    name = encoding.name
    if encoding.bom:
        return _is_mostly_invalid(data, encoding)
    if name in ("utf-7", "hz") or any(data.startswith(bom) for bom, _ in _BOMS):
        return True
    if name.startswith(("utf-16", "utf-32")):
        return not _can_be_utf_16_or_32(data, name, False)
    if name.startswith("iso2022"):
        return not (b"\x1b" in data and _decodes(data, name, False)) or data.decode(name).isascii()
    if _decodes(data, "utf-8", False) and not _is_utf_8_by_chance(data):
        return data.decode(name, "replace") != data.decode("utf-8")
    if not _holds_ascii(name) and _EBCDIC_CONTROLS.search(data.decode(name, "replace")):
        return True
    return _is_mostly_invalid(data, encoding)


def _is_utf_8_by_chance(data: bytes) -> bool:
    """Whether decoding as UTF-8 yields only characters that hardly any text consists of. The Russian word `Ёлка` in
    cp866 is one rare ideograph in UTF-8."""
    characters = {character for character in sample_lines(data).decode("utf-8", "ignore") if character > "\x7f"}
    return bool(characters) and all(map(_is_rare, characters))


def _is_rare(character: str) -> bool:
    return "\U00020000" <= character < "\U00040000" or unicodedata.category(character) in ("Cn", "Co", "Cc")


def _is_mostly_invalid(data: bytes, encoding: Encoding) -> bool:
    text = encoding.decode(data)
    invalid = text.count("\ufffd")
    return invalid > 0 and 2 * invalid > len(text) - len(text.encode("ascii", "ignore"))


def _holds_ascii(name: str) -> bool:
    """Whether letters and digits have their ASCII bytes: not in UTF-16, UTF-32 and EBCDIC."""
    return _LETTERS.encode("ascii").decode(name, "replace") == _LETTERS


def _can_be_utf_16_or_32(data: bytes, name: str, is_cut: bool) -> bool:
    """Whether data without a byte order mark can be UTF-16 or UTF-32: ASCII characters with their zeros exist, and the
    other characters are not all pairs of ASCII bytes."""
    if not data:
        return True
    if not _decodes(data, name, is_cut):
        return False
    if name.startswith("utf-32"):
        return True
    even, odd = data[:_HEAD_BYTES:2], data[1:_HEAD_BYTES:2]
    high, low = (odd, even) if name == "utf-16-le" else (even, odd)
    zeros = high.count(0)
    plain = sum(
        first in _ASCII_TEXT_BYTES and second in _ASCII_TEXT_BYTES for first, second in zip(even, odd, strict=False)
    )
    is_ascii = plain > zeros and plain * 10 > (len(high) - zeros) * 9
    return zeros > low.count(0) and not is_ascii


def decode_output(data: bytes, *, is_tail: bool = False) -> tuple[str, str]:
    """The decoded output of a program, and a note where the output is not UTF-8: it is then decoded as a file with that
    content would be. The end may be cut inside a character; with `is_tail`, the beginning too."""
    aligned = (
        data[next((offset for offset in range(min(4, len(data))) if data[offset] & 0xC0 != 0x80), 0) :]
        if is_tail
        else data
    )
    encoding = UTF_8 if _decodes(aligned, "utf-8", True) else detect(data, is_cut=True)
    if encoding is None or encoding.name == "utf-8":
        return data.decode(errors="replace"), ""
    return encoding.decode(data), f"\n[this output is not UTF-8: read as {encoding.name}, which is a guess]"


# guessing


def guess(data: bytes) -> str:
    """The most likely encoding of text that is not UTF-8."""
    sample = sample_lines(data)
    text = sample.decode("utf-8", "surrogateescape")
    invalid = _INVALID.findall(text)
    valid = sum(character > "\x7f" for character in text) - len("".join(invalid))
    if valid > _MIN_VALID_PER_INVALID * len(invalid):
        return "utf-8"
    names = [name for name in _rank_encodings(sample, 8) if _decodes(sample, name, True)]
    return next((name for name in names if not _mixes_scripts(sample, name)), (*names, "latin-1")[0])


def _mixes_scripts(sample: bytes, name: str) -> bool:
    """Whether Latin letters occur within words of another alphabet, as when `déjà` is decoded with a Cyrillic
    encoding."""
    text = sample.decode(name, "ignore")
    return 2 * len(_MIXED_SCRIPTS.findall(text)) > len(_OTHER_ALPHABETS.findall(text))


def candidates(data: bytes, first: str) -> list[str]:
    """The plausible encodings of a file whose encoding is uncertain, the most likely first."""
    if b"\0" in data[:_HEAD_BYTES]:
        return [name for name in ("utf-16-le", "utf-16-be") if name == first or _is_utf_16(data, name, False)]
    if first.startswith("iso2022"):
        return [first, *(name for name in _ISO_2022 if name != first and _decodes(data, name, False))]
    sample = sample_lines(data)
    names = dict.fromkeys((first, *_rank_encodings(sample, 8), *MULTI_BYTE, *_SINGLE_BYTE))
    return [name for name in names if name == first or _reads_well(sample, name)]


def sample_lines(data: bytes, start: int = 0, max_bytes: int = MAX_SAMPLE_BYTES) -> bytes:
    """The lines with bytes over 127: the ASCII lines around them mislead a detector."""
    lines, size = [], 0
    match = _NON_ASCII_BYTE.search(data, start)
    while match and size < max_bytes:
        line_start = data.rfind(b"\n", 0, match.start()) + 1
        line_end = data.find(b"\n", match.start()) + 1 or len(data)
        lines.append(data[line_start : min(line_end, line_start + max_bytes - size)])
        size += len(lines[-1])
        match = _NON_ASCII_BYTE.search(data, line_end)
    return b"".join(lines)


def _rank_encodings(sample: bytes, limit: int) -> list[str]:
    import chardet  # the import takes 40 to 100 ms, and most files are UTF-8

    eras = chardet.EncodingEra.MODERN_WEB | chardet.EncodingEra.LEGACY_ISO  # without Mac, DOS and mainframes
    results = chardet.detect_all(sample, encoding_era=eras, compat_names=False, max_bytes=MAX_SAMPLE_BYTES)
    names = [_superset(result["encoding"]) for result in results if result["encoding"]]
    return [*[name for name in dict.fromkeys(names) if name in MULTI_BYTE or name in _SINGLE_BYTE][:limit], "cp1252"]


def _superset(name: str) -> str:
    try:
        codec = codecs.lookup(name).name
    except LookupError:
        return name
    return _SUPERSETS.get(codec, codec)


def _ascii_encoding(data: bytes, declared: str, is_cut: bool) -> Encoding:
    """The encoding of an ASCII file: UTF-8, unless escape sequences switch to another alphabet, or the declared
    encoding, in which additions are written."""
    if b"\x1b$" in data:
        for name in _ISO_2022:
            if _decodes(data, name, is_cut) and not data.decode(name, "ignore").isascii():
                return Encoding(name, is_certain=False)
    return UTF_8 if contradicts(data, Encoding(declared)) else Encoding(declared)


def _utf_16_by_zeros(data: bytes, is_cut: bool) -> str | None:
    """UTF-16 without a byte order mark, recognized by the zero bytes of ASCII characters on one side of the byte
    pairs."""
    even, odd = data[:_HEAD_BYTES:2].count(0), data[1:_HEAD_BYTES:2].count(0)
    name = "utf-16-le" if odd > even else "utf-16-be"
    return name if min(even, odd) * 20 <= max(even, odd) and _is_utf_16(data, name, is_cut) else None


def _is_utf_16(data: bytes, name: str, is_cut: bool) -> bool:
    if not _can_be_utf_16_or_32(data, name, is_cut):
        return False
    text = data[:_HEAD_BYTES].decode(name, "ignore")
    strange = sum(unicodedata.category(character) in ("Cn", "Co", "Cs") for character in text)
    return not _CONTROLS.search(text) and strange * 20 <= len(text)


def _reads_well(sample: bytes, name: str) -> bool:
    return _decodes(sample, name, True) and not _C1_CONTROLS.search(sample.decode(name, "ignore"))


def _decodes(data: bytes, name: str, is_cut: bool) -> bool:
    try:
        if is_cut:
            codecs.getincrementaldecoder(name)().decode(data)
        else:
            data.decode(name)
    except UnicodeDecodeError:
        return False
    return True
