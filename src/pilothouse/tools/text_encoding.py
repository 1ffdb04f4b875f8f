"""Which encoding a text is in, and whether that is certain.

Certain are byte order marks, valid UTF-8, what a person or `.editorconfig` says. All else is a guess of `chardet`: no
caller may rely on it to write a character that is not ASCII. The work is bounded: UTF-8 is decided by one decoding,
everything else by the lines that hold bytes over 127, MAX_SAMPLE_BYTES of them.
"""

import codecs
import re
import unicodedata
from typing import Literal

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.domain.values import Value

MAX_SAMPLE_BYTES = 200_000
_HEAD_BYTES = 64 * 1024  # grep takes a file with a zero byte in there for binary, too
_MIN_VALID_PER_INVALID = 10
_MIN_UTF_8_CHARACTERS = 4  # a word in another encoding may look like fewer
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins like that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ISO_2022 = ("iso2022_jp", "iso2022_jp_2004", "iso2022_jp_2", "iso2022_kr")
# A character may take several bytes, and the later ones may look like ASCII.
MULTI_BYTE = ("cp932", "euc_jp", "gb18030", "cp950", "big5hkscs", "cp949")
_SINGLE_BYTE = (
    *("cp1252", "cp1251", "koi8-r", "cp1250", "iso8859-2", "cp1253", "cp1255", "cp1256", "cp874", "iso8859-15"),
    *("koi8-u", "cp866", "iso8859-5", "iso8859-7", "iso8859-8", "iso8859-6", "cp1254", "cp1257", "cp1258", "iso8859-9"),
    *("iso8859-4", "iso8859-13", "cp437", "cp850", "cp852", "mac-roman", "mac-cyrillic"),
)
# What a detector names narrowly is read by the encoding that holds it: files have its additional characters.
_WIDER = {
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
_NOT_FOR_FILES = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "charmap"})
_HIGH = re.compile(rb"[\x80-\xff]")
_INVALID = re.compile("[\udc80-\udcff]")
_CONTROLS = re.compile("[\0-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_OTHER_ALPHABETS = re.compile("[\u0370-\u07ff\u0e00-\u0e7f]")
_MIXED = re.compile("[A-Za-z][\u0370-\u07ff\u0e00-\u0e7f]|[\u0370-\u07ff\u0e00-\u0e7f](?=[A-Za-z])")
_C1 = re.compile("[\x80-\x9f]")
Charset = Literal["latin-1", "utf-8", "utf-8-bom", "utf-16-le", "utf-16-be"]


class Encoding(Value):
    name: str = "utf-8"
    """A codec of Python; those of UTF-16 and UTF-32 with their byte order."""
    bom: bytes = b""
    """The byte order mark that the file begins with."""
    is_certain: bool = True

    def decode(self, data: bytes) -> str:
        """The text after the byte order mark. Bytes that mean nothing become U+FFFD."""
        return data[len(self.bom) :].decode(self.name, "replace")

    def encode(self, text: str, path: str) -> bytes:
        """Without the byte order mark. Raises: ToolError for a character that the encoding does not have."""
        try:
            return text.encode(self.name)
        except UnicodeEncodeError as error:
            character = text[error.start]
            named = character if character.isprintable() else f"U+{ord(character):04X}"
            raise ToolError(Code.NOT_ENCODABLE, path=path, encoding=self.name, character=named) from error


UTF_8 = Encoding()


def detect(data: bytes, charset: Charset | None = None, *, is_cut: bool = False) -> Encoding | None:
    """The encoding of a file, None for what is no text. `charset` is what `.editorconfig` says: it decides where the
    bytes allow it and leave a choice. `is_cut`: there is more than was read, perhaps of the last character."""
    for bom, name in _BOMS:
        if data.startswith(bom):
            readable = name == "utf-8" or _decodes(data[len(bom) :], name, is_cut)
            return Encoding(name, bom) if readable else None
    declared = (charset or "utf-8").removesuffix("-bom")
    if b"\0" in data[:_HEAD_BYTES]:
        wide = _utf_16_by_zeros(data, is_cut) or (declared if declared.startswith("utf-16") else None)
        return Encoding(wide, is_certain=wide == declared) if wide and _decodes(data, wide, is_cut) else None
    if _decodes(data, "utf-8", is_cut):
        return _seven_bits(data, declared, is_cut) if data.isascii() else UTF_8
    if declared != "utf-8" and _decodes(data, declared, is_cut):
        return Encoding(declared)
    return Encoding(guess(data), is_certain=False)


def encoding_for_new_file(charset: Charset | None) -> Encoding:
    marks = {"utf-8-bom": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
    return Encoding((charset or "utf-8").removesuffix("-bom"), marks.get(charset or "", b""))


def named_encoding(name: str, data: bytes) -> Encoding:
    """What a person or a model says, for a file that holds `data`. Raises: ToolError for a name that means nothing."""
    codec = _codec(name)
    bom, by_mark = next(((bom, known) for bom, known in _BOMS if data.startswith(bom)), (b"", ""))
    if codec in ("utf-16", "utf-32") and by_mark.startswith(codec):
        codec = by_mark
    codec = "utf-8" if codec == "utf-8-sig" else codec
    if codec in ("utf-16", "utf-32"):  # nothing tells its byte order
        raise ToolError(Code.UNKNOWN_ENCODING, encoding=name)
    return Encoding(codec, bom if codec == by_mark else b"")


def _codec(name: str) -> str:
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError, UnicodeError) as error:
        raise ToolError(Code.UNKNOWN_ENCODING, encoding=name) from error
    if not getattr(info, "_is_text_encoding", True) or info.name in _NOT_FOR_FILES:
        raise ToolError(Code.UNKNOWN_ENCODING, encoding=name)
    return "latin-1" if info.name == "iso8859-1" else info.name


def contradicts(data: bytes, encoding: Encoding) -> bool:
    """Whether a file plainly is not in the encoding that somebody named."""
    if encoding.name != "utf-8" and not encoding.bom and _decodes(data, "utf-8", False):
        text = data.decode("utf-8")
        if len(text) - len(text.encode("ascii", "ignore")) >= _MIN_UTF_8_CHARACTERS:
            return True
    text = encoding.decode(data)
    invalid = text.count("\ufffd")
    return invalid > 0 and 2 * invalid > len(text) - len(text.encode("ascii", "ignore"))


def decode_output(data: bytes, *, is_tail: bool = False) -> tuple[str, str]:
    """What a program printed, and a note where that is not UTF-8: read as a file with that content is. The end may be
    cut in the middle of a character, and so may be the beginning of a tail."""
    whole = data[next((at for at in range(min(4, len(data))) if data[at] & 0xC0 != 0x80), 0) :] if is_tail else data
    encoding = UTF_8 if _decodes(whole, "utf-8", True) else detect(data, is_cut=True)
    if encoding is None or encoding.name == "utf-8":
        return data.decode(errors="replace"), ""
    return encoding.decode(data), f"\n[this output is not UTF-8: read as {encoding.name}, which is a guess]"


# guessing


def guess(data: bytes) -> str:
    """The likeliest encoding of text that is not UTF-8."""
    sample = sample_lines(data)
    text = sample.decode("utf-8", "surrogateescape")
    invalid = len(_INVALID.findall(text))
    if sum(character > "\x7f" for character in text) - invalid >= _MIN_VALID_PER_INVALID * invalid:
        return "utf-8"
    names = [name for name in _ranked(sample, 8) if _decodes(sample, name, True)]
    return next((name for name in names if not _mixes_scripts(sample, name)), (*names, "latin-1")[0])


def _mixes_scripts(sample: bytes, name: str) -> bool:
    """Whether Latin letters stand within words of another alphabet, as when `déjà` is read in a Cyrillic encoding."""
    text = sample.decode(name, "ignore")
    return 2 * len(_MIXED.findall(text)) > len(_OTHER_ALPHABETS.findall(text))


def candidates(data: bytes, first: str) -> list[str]:
    """The encodings in which a file that is not certain can be read, the likeliest first."""
    if b"\0" in data[:_HEAD_BYTES]:
        return [name for name in ("utf-16-le", "utf-16-be") if name == first or _is_utf_16(data, name, False)]
    if first.startswith("iso2022"):
        return [first, *(name for name in _ISO_2022 if name != first and _decodes(data, name, False))]
    sample = sample_lines(data)
    names = dict.fromkeys((first, *_ranked(sample, 8), *MULTI_BYTE, *_SINGLE_BYTE))
    return [name for name in names if name == first or _reads_well(sample, name)]


def sample_lines(data: bytes, start: int = 0, most: int = MAX_SAMPLE_BYTES) -> bytes:
    """The lines with bytes over 127: ASCII around them misleads a detector."""
    lines, size = [], 0
    found = _HIGH.search(data, start)
    while found and size < most:
        begin = data.rfind(b"\n", 0, found.start()) + 1
        end = data.find(b"\n", found.start()) + 1 or len(data)
        lines.append(data[begin : min(end, begin + most - size)])
        size += len(lines[-1])
        found = _HIGH.search(data, end)
    return b"".join(lines)


def _ranked(sample: bytes, most: int) -> list[str]:
    import chardet  # takes 40 to 100 ms, and most files are UTF-8

    eras = chardet.EncodingEra.MODERN_WEB | chardet.EncodingEra.LEGACY_ISO  # without Mac, DOS and mainframes
    found = chardet.detect_all(sample, encoding_era=eras, compat_names=False, max_bytes=MAX_SAMPLE_BYTES)
    names = [_wide(each["encoding"]) for each in found if each["encoding"]]
    return [*[name for name in dict.fromkeys(names) if name in MULTI_BYTE or name in _SINGLE_BYTE][:most], "cp1252"]


def _wide(name: str) -> str:
    try:
        known = codecs.lookup(name).name
    except LookupError:
        return name
    return _WIDER.get(known, known)


def _seven_bits(data: bytes, declared: str, is_cut: bool) -> Encoding:
    """ASCII, unless escape sequences switch to another alphabet. What is to be added is in the declared encoding."""
    if b"\x1b$" in data:
        for name in _ISO_2022:
            if _decodes(data, name, is_cut) and not data.decode(name, "ignore").isascii():
                return Encoding(name, is_certain=False)
    return Encoding("utf-8" if declared.startswith("utf-16") else declared)


def _utf_16_by_zeros(data: bytes, is_cut: bool) -> str | None:
    """UTF-16 without a byte order mark has the zeros of its ASCII characters on one side of the byte pairs."""
    even, odd = data[:_HEAD_BYTES:2].count(0), data[1:_HEAD_BYTES:2].count(0)
    name = "utf-16-le" if odd > even else "utf-16-be"
    return name if min(even, odd) * 20 <= max(even, odd) and _is_utf_16(data, name, is_cut) else None


def _is_utf_16(data: bytes, name: str, is_cut: bool) -> bool:
    if not _decodes(data, name, is_cut):
        return False
    text = data[:_HEAD_BYTES].decode(name, "ignore")
    strange = sum(unicodedata.category(character) in ("Cn", "Co", "Cs") for character in text)
    return not _CONTROLS.search(text) and strange * 20 <= len(text)


def _reads_well(sample: bytes, name: str) -> bool:
    return _decodes(sample, name, True) and not _C1.search(sample.decode(name, "ignore"))


def _decodes(data: bytes, name: str, is_cut: bool) -> bool:
    try:
        if is_cut:
            codecs.getincrementaldecoder(name)().decode(data)
        else:
            data.decode(name)
    except UnicodeDecodeError:
        return False
    return True
