"""The texts that people read: a catalog for each language, and the functions that look up and fill in a text.

To add a language, add a package like `en` that is named after the language and defines `CATALOG`, and add the name to
`domain.codes.Language`. A test compares the keys and parameters of all languages with those of English.
"""

from pilothouse.i18n.rules import translate_rule
from pilothouse.i18n.text_catalog import Section, TextCatalog, catalog_of
from pilothouse.i18n.translate import (
    mode_meaning,
    mode_title,
    translate,
    translate_all,
    translate_broken_promises,
    translate_dangers,
    translate_exit_status,
    translate_means,
    translate_promise,
    translate_state,
    ui_text,
    without_padding,
)

__all__ = [
    "Section",
    "TextCatalog",
    "catalog_of",
    "mode_meaning",
    "mode_title",
    "translate",
    "translate_all",
    "translate_broken_promises",
    "translate_dangers",
    "translate_exit_status",
    "translate_means",
    "translate_promise",
    "translate_rule",
    "translate_state",
    "ui_text",
    "without_padding",
]
