"""Processors and scorers of installed packages and of the person's own Python files."""

import inspect
import os
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.tools.function_tools import Function, module_of_file

PROCESSORS = "pilothouse.processors"
SCORERS = "pilothouse.scorers"


def load_processors(references: Iterable[str], folder: Path) -> list[Function]:
    """The processors of installed packages, by name, then those of `references`: `FILE.py:NAME`, a relative path
    beginning at `folder`.

    Raises: InvalidInput for a processor that cannot be loaded.
    """
    installed = sorted(metadata.entry_points(group=PROCESSORS), key=lambda point: point.name)
    values = [(point.name, _load(point.name, point.load)) for point in installed]
    values += [(reference, _load_reference(reference, folder)) for reference in references]
    for name, value in values:
        if not _is_async(value):
            raise _invalid(name, "a processor must be an async function")
    return [value for _, value in values]


def load_scorer(reference: str, folder: Path) -> Function:
    """The scorer that an installed package has under this name, or that `FILE.py:NAME` names.

    Raises: InvalidInput for a scorer that cannot be loaded.
    """
    points = {point.name: point for point in metadata.entry_points(group=SCORERS)}
    if ":" in reference:
        value = _load_reference(reference, folder)
    elif reference in points:
        value = _load(reference, points[reference].load)
    else:
        raise _invalid(reference, f"use FILE.py:NAME, or the name of an installed one: {', '.join(points) or '-'}")
    if not callable(value) or _is_async(value):
        raise _invalid(reference, "a scorer must be a function that isn't async")
    scorer: Function = value
    return scorer


def _load_reference(reference: str, folder: Path) -> Any:
    file, colon, name = reference.rpartition(":")
    if not colon:
        raise _invalid(reference, "use FILE.py:NAME")
    path = folder / os.path.expanduser(file)
    return _load(reference, lambda: getattr(module_of_file(path), name))


def _load(name: str, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except Exception as error:  # foreign code may raise anything
        raise _invalid(name, f"{type(error).__name__}: {error}") from error


def _is_async(value: Any) -> bool:
    return inspect.iscoroutinefunction(value) or (callable(value) and inspect.iscoroutinefunction(type(value).__call__))


def _invalid(name: str, detail: str) -> InvalidInput:
    return InvalidInput(Code.INVALID_EXTENSION, name=name, detail=detail)
