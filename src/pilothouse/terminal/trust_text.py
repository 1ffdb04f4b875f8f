"""The settings of a folder as text for the terminal, for the person who decides whether to trust them."""

import os
from collections.abc import Iterator
from functools import partial

from pilothouse.domain.codes import Language
from pilothouse.domain.deception.deceptive_text import deception_marks, lookalike_characters
from pilothouse.domain.deception.hidden_characters import exact_line, with_codes
from pilothouse.domain.trust import FolderTrust
from pilothouse.i18n import translate_dangers, ui_text, without_padding
from pilothouse.sandbox.known_names import is_program_or_path
from pilothouse.terminal.foreign_text import quoted


def trust_text(folder_trust: FolderTrust, language: Language) -> str:
    """Every file of the folder with its name and its marks for deceptive text.

    Every label is a row of its own without the mark of foreign text, so that no file can imitate another one.
    """
    return "\n".join(_rows(folder_trust, language))


def _rows(folder_trust: FolderTrust, language: Language) -> Iterator[str]:
    path = os.environ.get("PATH", os.defpath)
    is_known_name = partial(is_program_or_path, folder=folder_trust.folder, path=path)
    for number, (name, text) in enumerate(folder_trust.files.items(), start=1):
        marks = deception_marks({name: text}, is_known_name)
        characters = lookalike_characters({name: text}) if marks else ""
        yield ui_text("terminal", "trust_file", language, number=number, count=len(folder_trust.files))
        yield quoted(with_codes(exact_line(f".pilothouse/{name}"), characters), is_exact=True)
        yield ui_text("terminal", "trust_contents", language)
        yield quoted(with_codes(without_padding(text.rstrip(), language), characters), is_exact=True)
        if marks:
            yield ui_text("terminal", "dangerous", language, what=translate_dangers(marks, language))
