"""Personas as files, `personas/ID.toml`: beside the person's configuration, and among a folder's own."""

import itertools
import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import Literal

from pilothouse.config.meaning import mode_called
from pilothouse.config.reading import Document, refused
from pilothouse.config.schema import PersonaFile
from pilothouse.config.tools import refuse_tool
from pilothouse.domain.modes import Modes
from pilothouse.domain.personas import NO_PERSONA, Persona, ToolPolicy

PERSONAS = "personas"
FILES_AT_MOST = 50
TEXT_AT_MOST = 20_000
_ID = re.compile(r"[A-Za-z0-9_-]{1,50}")
_ENDING = ".toml"


def persona_names(folder: Path) -> list[str]:
    """The files of the personas that lie in a folder, as they are named there. Raises: InvalidInput."""
    where = folder / PERSONAS
    try:
        with os.scandir(where) as entries:
            names = sorted(entry.name for entry in itertools.islice(entries, FILES_AT_MOST + 1))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise refused(where, f"{error.strerror}.", "a folder with files ID.toml") from error
    if len(names) > FILES_AT_MOST:
        raise refused(where, "There are too many files in it.", f"up to {FILES_AT_MOST}")
    found = [name for name in names if name.endswith(_ENDING)]
    for name in found:
        if not _ID.fullmatch(name.removesuffix(_ENDING)) or name == f"{NO_PERSONA}{_ENDING}":
            allowed = f"ID.toml: up to 50 letters, digits, '-' and '_', but not {NO_PERSONA}"
            raise refused(where, f"{name!r} is no name for a persona.", allowed)
    return [f"{PERSONAS}/{name}" for name in found]


def persona_of(document: Document, modes: Modes, origin: Literal["user", "project"]) -> Persona:
    """Raises: InvalidInput, also for what a project may not set."""
    file = document.checked(document.data, PersonaFile)
    if origin == "project" and file.model is not None:
        document.fail(("model",), "A project may not set it.", "leave it out")
    for field in ("name", "role"):
        if not getattr(file, field).isprintable():
            document.fail((field,), "It holds what cannot be shown.", "one line of text")
    texts = {
        **{field: getattr(file, field) for field in ("name", "role", "identity", "communication_style", "prompt")},
        "principles": "".join(file.principles),
    }
    size = sum(map(len, texts.values()))
    if size > TEXT_AT_MOST:
        longest = max(texts, key=lambda field: len(texts[field]))
        document.fail((longest,), f"All its texts together have {size} characters.", f"up to {TEXT_AT_MOST}")
    mode = file.default_mode
    return Persona(
        id=document.path.stem,
        name=file.name,
        role=file.role,
        identity=file.identity,
        communication_style=file.communication_style,
        principles=file.principles,
        prompt=file.prompt,
        model=file.model,
        default_mode=mode_called(document, ("default_mode",), mode, modes).name if mode is not None else None,
        tools=ToolPolicy(
            allowed=frozenset(file.tools.allowed),
            denied=frozenset(file.tools.denied),
            allowed_categories=frozenset(file.tools.allowed_categories),
            denied_categories=frozenset(file.tools.denied_categories),
        ),
        origin=origin,
    )


def check_tools(document: Document, persona: Persona, known: Collection[str]) -> None:
    """Raises: InvalidInput for a tool that there is not: one that is misspelt would forbid nothing."""
    for field in ("allowed", "denied"):
        for name in sorted(getattr(persona.tools, field)):
            if name not in known and "__" not in name:  # those of servers come and go
                refuse_tool(document, ("tools", field), name, known)
