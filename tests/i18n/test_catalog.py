"""Every language has the texts of English, with the same parameters, and errors show their English text."""

from string import Formatter

import msgspec
import pytest

from pilothouse.domain.codes import LANGUAGES, Code, Language
from pilothouse.domain.errors import NotFound
from pilothouse.domain.modes import Modes
from pilothouse.domain.promises import SandboxPromise
from pilothouse.i18n import TextCatalog, catalog_of, mode_meaning, mode_title
from pilothouse.terminal.tour import STEPS

REFERENCE = catalog_of("en")
SECTIONS = [field.name for field in msgspec.structs.fields(TextCatalog) if field.name != "html_language"]
OTHERS = [language for language in LANGUAGES if language != "en"]


def parameters(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_exactly_the_keys_and_parameters_of_english(language: Language, section: str) -> None:
    english, other = getattr(REFERENCE, section), getattr(catalog_of(language), section)
    assert list(other) == list(english)
    for key, text in english.items():
        assert parameters(other[key]) == parameters(text), key


def test_every_code_promise_and_step_of_the_tour_has_a_text() -> None:
    assert set(REFERENCE.codes) == set(Code)
    assert set(REFERENCE.promises) == set(SandboxPromise)
    assert list(REFERENCE.tour) == list(STEPS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_mode_that_is_no_longer_configured_shows_its_name_and_the_meaning_of_ask(language: Language) -> None:
    texts, modes = catalog_of(language), Modes()
    assert [mode_title(mode, language) for mode in modes.all.values()] == list(texts.mode_titles.values())
    assert [mode_meaning(mode, language) for mode in modes.all.values()] == list(texts.mode_meanings.values())
    gone = modes.stored("careful")
    assert (mode_title(gone, language), mode_meaning(gone, language)) == ("careful", texts.mode_meanings["ask"])


def test_an_error_shows_its_english_text() -> None:
    assert (
        str(NotFound(Code.UNKNOWN_CONTEXT, context_id="x"))
        == "The conversation 'x' doesn't exist. It may have been deleted."
    )
