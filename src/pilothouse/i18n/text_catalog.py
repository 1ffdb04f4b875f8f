"""The text catalog of a language: one mapping for each section."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Literal

from pilothouse.domain.codes import Code, Language
from pilothouse.domain.promises import SandboxPromise
from pilothouse.domain.value import Value

Section = (
    Literal["calls", "rules", "joins", "terminal", "tour", "markdown", "sign_in", "demo"]
    | Literal["audit", "doctor", "clean", "serve", "mcp", "trust"]
)
"""Sections whose texts are looked up by a plain name."""


class TextCatalog(Value, kw_only=True):
    """The texts of one language. English is the reference: each other language has the same keys and parameters."""

    html_language: str
    """The value of HTML's `lang` attribute."""
    codes: Mapping[Code, str]
    states: Mapping[str, str]
    mode_titles: Mapping[str, str]
    mode_meanings: Mapping[str, str]
    promises: Mapping[SandboxPromise, str]
    dangers: Mapping[str, str]
    """Texts of danger marks, by the stored mark."""
    calls: Mapping[str, str]
    rules: Mapping[str, str]
    joins: Mapping[str, str]
    terminal: Mapping[str, str]
    tour: Mapping[str, str]
    """The text of each step of the tour, by the line that the step types."""
    markdown: Mapping[str, str]
    sign_in: Mapping[str, str]
    demo: Mapping[str, str]
    audit: Mapping[str, str]
    doctor: Mapping[str, str]
    clean: Mapping[str, str]
    serve: Mapping[str, str]
    mcp: Mapping[str, str]
    trust: Mapping[str, str]

    def section(self, name: Section) -> Mapping[str, str]:
        texts: Mapping[str, str] = getattr(self, name)
        return texts


@cache
def catalog_of(language: Language) -> TextCatalog:
    """Return the catalog in the package that is named after the language. The package is imported at first use."""
    loaded: TextCatalog = import_module(f"pilothouse.i18n.{language}").CATALOG
    return loaded
