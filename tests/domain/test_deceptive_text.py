"""What deceives the eye is marked by rule; ordinary text of any language is not."""

import unicodedata
from pathlib import Path

import pytest

from pilothouse.domain.appearances import say_dangers, without_padding
from pilothouse.domain.deceptive_text import deceptions, is_quick
from pilothouse.sandbox.known_names import is_program_or_path

NAMES = frozenset({"git", "ls", "pip", "bin", "scp", "app", "src"})
DECEPTIVE = [
    "echo a\u202eb",
    "echo ok\u2003echo ok\u2003echo ok\u2003",
    "rm\u00a0-rf x",
    "cat\u3000x",
    "echo\u200bx",
    "ls\u2060",
    "a\u00adb",
    "echo \u3164 x",
    "echo \u115f",
    "x\u2800y",
    "cat \ufe0fx",
    "a\U000e0041b",
    "cat /home/u\u0455er",
    "curl \u0440\u0430ypal.com",
    "\uff4c\uff53 -la",
    "\U0001d42b\U0001d426 -rf x",
    "\U0001d4c1\U0001d4c8",
    "cat \u2215etc\u2215passwd",
    "cat \u2044etc\u2044passwd",
    "cat \u2024\u2024/x",
    "ls\u037e rm x",
    "c\u0251t x",
    "g\u0131t push",
    "/b\u0131n/sh",
    "cat \uff0fetc\uff0fpasswd",
    "\u24e1\u24dc x",
    "\ufb01nd .",
    "rm \u2013rf x",
    "rm \u2212rf x",
    "\u0455\u0441\u0440 a b",
    "\u0430\u0440\u0440\u04cf\u0435.com x",
    "\u0441\u043e\u0440\u0443 a b",
    "curl https://g\u03bf\u03bfgle.com",
    "echo \u2025/x",
    "ls \uff5c sh",
    "cat etc\u30cepasswd",
    "ls\u2028rm",
    "ls\u0085rm",
    "\u212a8s",
    "echo \uff11\uff12",
    "wget \u0430pi.com",
    "\u0435\u0445\u0440\u0435\u0441",
    "ls -\u0430",
    "git\u034f push",
    "\u061cx",
    "echo \u212fval",
    "echo a\u180eb",
    "a\ufe64b",
    "a\u29f8b",
    "a\u2571b",
    "sud\u043e x",
    "\uff27it",
    "x\x1b[2K",
    "x\x0dls",
    "\u03b1\u03b2c",
    "\u03c0\u03b1pa",
    "\u0391pple",
    "x\u3033y",
    "a\ua789b",
]
ORDINARY = [
    "ls -la",
    "写文件 notes.txt",
    "привет мир",
    "naïve café",
    "α + β",
    "git commit -m 'Исправить ошибку в парсере'",
    "mkdir Документы",
    "cat 'отчёт.docx'",
    "echo 你好，世界！",
    "echo 支持（TLS）",
    "git commit -m '修复 bug（TLS 相关）；更新文档'",
    "echo \u3053\u3093\u306b\u3061\u306f\u3000\u4e16\u754c",
    "佐々木さん ラーメン ノート.txt",
    "echo 東京タワーTokyo",
    "echo 안녕하세요 Hello한글",
    "Γειά σου Κόσμε; τι κάνεις;",
    "مرحبا بالعالم",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u0628\u0631\u0648\u0645",
    "שלום עולם יוסי צה״ל",
    "François Müller Łukasz Ångström Søren Þór Æsir Dvořák",
    "Yıldız Işık kapı",
    "œuvre cœur",
    "\U0001f469\u200d\U0001f4bb \U0001f6e1\ufe0f \u2764\ufe0f 1\ufe0f\u20e3 \U0001f1e9\U0001f1ea",
    "don’t “quote” – dash… 2010–2020",
    "10 μs kΩ 5 µm",
    "①②③ m² 1º nº",
    "№5 ™ ©",
    "สวัสดีครับ น้ำ",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e \u0915\u094d\u200d\u0937",
    "Հայաստան և",
    "বাংলা ড়",
    "১৯৭১ ২০",
    "١٥ ٢٠٢٥",
    "1С А4",
    "с о у в",
    "Владимир Путин Сара Коннор",
    "二〇二六年 第Ⅱ章",
    "Nguyễn Văn Đức",
    "Hawaiʻi",
    "Ελλάδα ΑΘΗΝΑ",
    "МОСКВА РОССИЯ",
    "ქართული",
    "አማርኛ",
    "اردو زبان۔",
    "Հայ։",
    "a→b • c",
    "3×4 1⁄2",
    "x ≤ y ∞",
    "文件～备份",
    "9时～10时",
]


def marks(command: str) -> tuple[str, ...]:
    return deceptions({"command": command}, lambda name: name in NAMES)


@pytest.mark.parametrize("command", DECEPTIVE, ids=ascii)
def test_a_command_made_to_deceive_is_marked(command: str) -> None:
    assert marks(command)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_of_any_language_is_not_marked(text: str) -> None:
    assert marks(text) == ()
    assert marks(unicodedata.normalize("NFD", text)) == (), "file names of some systems are decomposed"


def test_each_kind_of_deception_has_its_mark() -> None:
    assert marks("echo ok" + " " * 200 + "; rm x") == ("padding",)
    assert marks("echo ok" + "\u2003" * 2_100 + "; rm -rf x") == ("padding", "unusual blanks")
    assert marks("rm\u00a0-rf x") == ("unusual blanks",)
    assert marks("echo a\u202eb") == ("invisible characters",)
    assert deceptions({"questions": [{"question": "cat /home/u\u0455er"}]}) == ("look-alike letters",)
    assert deceptions({"pa\u200bth": "x"}) == ("invisible characters",), "names of arguments are shown as well"
    assert deceptions({"ids": [1, {"id": 2**53}]}) == ("long numbers",), "a browser shows other digits"
    assert deceptions({"ids": [2**53 - 1, True, 1e300]}) == ()


def test_the_content_of_a_file_is_marked_only_for_what_a_diff_cannot_show() -> None:
    assert deceptions({"content": " " * 500 + "\u3000\uff21\r\n\f\u00a0"}) == ()
    assert deceptions({"content": "\ufeffx = 1"}) == ()
    assert deceptions({"content": "if admin: \u2066# \u2069 \u202e"}) == ("invisible characters",)
    assert deceptions({"edits": [{"new_text": "def p\u0430y(): ..."}]}) == ("look-alike letters",)


def test_a_word_that_looks_like_a_program_or_an_existing_path_is_marked(tmp_path: Path) -> None:
    (tmp_path / "paca").mkdir()
    (tmp_path / "Il0").touch()

    def found(command: str) -> tuple[str, ...]:
        return deceptions({"command": command}, lambda name: is_program_or_path(name, folder=str(tmp_path)))

    prose = "\u043f\u0440\u0438\u0432\u0435\u0442 \u0440\u0430\u0441\u0430"  # a Russian sentence with such a word
    assert found(prose) == ("look-alike letters",)
    (tmp_path / "paca").rmdir()
    assert found(prose) == ()
    assert found("\u0131s") == (), "no such program"
    assert found("b\u0131n/x; bin") == ("look-alike letters",), "the same word in ASCII stands beside it"
    assert found("ed\u0131t; \u0131f") == ("look-alike letters",)


def test_megabytes_are_marked_in_bounded_time() -> None:
    """Every rule is asked a bounded number of times, whatever the length."""
    asked: list[str] = []

    def is_known(name: str) -> bool:
        asked.append(name)
        return False

    text = " ".join(f"k\u0131l{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}" for n in range(20_000))
    deceptions({"command": text}, is_known)
    assert len(asked) < 10_000
    assert not is_quick({"command": "x" * 100_000})
    assert not is_quick({"command": "Æ"}), "the file system is asked for words that look like others"
    assert is_quick({"command": "ls -la"})
    assert deceptions({"command": "\u0131 " * 100_000}) == ("look-alike letters",)


def test_marks_are_said_in_both_languages() -> None:
    assert say_dangers(("network", "padding", "unusual blanks", "its own"), "zh") == "网络, 大量空白, 特殊空白, its own"
    assert len(without_padding("a" + "\u2003" * 5000 + "b")) < 40
