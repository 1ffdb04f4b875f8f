"""The texts that people read: one catalog a language, and the functions that look up and fill in a text.

A third language is a package like `en` that is named after it and holds its `CATALOG`, and its name in
`domain.codes.Language`. A test compares its keys and parameters with those of English.
"""

from pilothouse.i18n.catalog import Catalog, Section, catalog_of
from pilothouse.i18n.rules import translate_rule
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
    "Catalog",
    "Section",
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
