"""Reads personas from `personas/ID.toml` files, in the user's configuration folder and in project folders."""

import itertools
import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import Literal

from pilothouse.config.interpret import find_mode
from pilothouse.config.schema import PersonaFile
from pilothouse.config.toml_document import TomlDocument, file_error
from pilothouse.config.tools import refuse_tool
from pilothouse.domain.modes import Modes
from pilothouse.domain.personas import NO_PERSONA, Persona, ToolPolicy
from pilothouse.domain.sampling import Sampling, sampling_fault

PERSONAS_FOLDER = "personas"
"""The name of the folder with persona files."""
MAX_PERSONA_FILES = 50
MAX_PERSONA_CHARACTERS = 20_000
_ID = re.compile(r"[A-Za-z0-9_-]{1,50}")
_EXTENSION = ".toml"


def persona_names(folder: Path) -> list[str]:
    """Return the persona files of a folder as relative paths. Raises: InvalidInput."""
    persona_folder = folder / PERSONAS_FOLDER
    try:
        with os.scandir(persona_folder) as entries:
            names = sorted(entry.name for entry in itertools.islice(entries, MAX_PERSONA_FILES + 1))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise file_error(persona_folder, f"{error.strerror}.", "a folder with files named ID.toml") from error
    if len(names) > MAX_PERSONA_FILES:
        raise file_error(persona_folder, "The folder has too many files.", f"up to {MAX_PERSONA_FILES}")
    persona_files = [name for name in names if name.endswith(_EXTENSION)]
    for name in persona_files:
        if not _ID.fullmatch(name.removesuffix(_EXTENSION)) or name == f"{NO_PERSONA}{_EXTENSION}":
            allowed = f"ID.toml: up to 50 letters, digits, '-' and '_', but not {NO_PERSONA}"
            raise file_error(persona_folder, f"{name!r} isn't a valid file name for a persona.", allowed)
    return [f"{PERSONAS_FOLDER}/{name}" for name in persona_files]


def persona_of(document: TomlDocument, modes: Modes, origin: Literal["user", "project"]) -> Persona:
    """Convert a persona file. Raises: InvalidInput, also for keys that a project may not set."""
    file = document.validate(document.data, PersonaFile)
    if origin == "project" and file.model is not None:
        document.fail(("model",), "A project can't set this key.", "no value; remove this key")
    for field in ("name", "role"):
        if not getattr(file, field).isprintable():
            document.fail((field,), "The text has characters that can't be shown.", "one line of text")
    texts = {
        **{field: getattr(file, field) for field in ("name", "role", "identity", "communication_style", "prompt")},
        "principles": "".join(file.principles),
    }
    size = sum(map(len, texts.values()))
    if size > MAX_PERSONA_CHARACTERS:
        longest = max(texts, key=lambda field: len(texts[field]))
        document.fail(
            (longest,), f"The texts of this persona have {size} characters in total.", f"up to {MAX_PERSONA_CHARACTERS}"
        )
    mode = file.default_mode
    sampling = Sampling(temperature=file.temperature, max_output_tokens=file.max_output_tokens)
    fault = sampling_fault(sampling)
    if fault is not None:
        field, allowed = fault
        document.fail((field,), "The value is out of range.", allowed)
    return Persona(
        id=document.path.stem,
        name=file.name,
        role=file.role,
        identity=file.identity,
        communication_style=file.communication_style,
        principles=file.principles,
        prompt=file.prompt,
        model=file.model,
        sampling=sampling,
        default_mode=find_mode(document, ("default_mode",), mode, modes).name if mode is not None else None,
        tools=ToolPolicy(
            allowed=frozenset(file.tools.allowed),
            denied=frozenset(file.tools.denied),
            allowed_categories=frozenset(file.tools.allowed_categories),
            denied_categories=frozenset(file.tools.denied_categories),
        ),
        origin=origin,
    )


def check_tools(document: TomlDocument, persona: Persona, known_tools: Collection[str]) -> None:
    """Raises: InvalidInput for an unknown tool: a misspelt denial would deny nothing."""
    for field in ("allowed", "denied"):
        for name in sorted(getattr(persona.tools, field)):
            if name not in known_tools and "__" not in name:  # tools of MCP servers come and go
                refuse_tool(document, ("tools", field), name, known_tools)
