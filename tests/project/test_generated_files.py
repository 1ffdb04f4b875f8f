"""Files generated from the code are current: `make docs` would change nothing."""

import re
from pathlib import Path

import pytest

from pilothouse.domain.codes import LANGUAGES

ROOT = Path(__file__).parents[2]


def test_every_generated_file_equals_the_output_of_its_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import generate

    contents = generate.generated()
    assert ROOT / "web/src/api/schema.ts" in contents
    old = [path.name for path, text in contents.items() if not path.exists() or path.read_text() != text]
    assert old == [], "run: make docs"


def test_every_place_in_the_words_for_the_page_is_a_plain_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import generate

    for language in LANGUAGES:
        for text in generate.texts(language).values():
            assert [each for each in text.values() if re.sub(r"\{\w+\}", "", each).count("{")] == []


def test_the_locked_packages_of_the_page_name_no_host() -> None:
    assert "://" not in (ROOT / "web/package-lock.json").read_text()
