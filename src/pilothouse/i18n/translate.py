"""Look up a text in the reader's language and fill in its parameters."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from pilothouse.domain.codes import Language, Reason
from pilothouse.domain.deception.padding import replace_padding
from pilothouse.domain.errors import PilothouseError
from pilothouse.domain.exit_status import is_failure, signal_name
from pilothouse.domain.modes import Mode
from pilothouse.domain.promises import MEANS, Kernel, SandboxPromise
from pilothouse.domain.states import State, name_of
from pilothouse.i18n.text_catalog import Section, catalog_of


def ui_text(section: Section, key: str, language: Language, /, **params: object) -> str:
    """Return a text of the user interface. Raises: KeyError for a missing parameter."""
    return catalog_of(language).section(section)[key].format(**params)


def translate(reason: Reason, language: Language = "en") -> str:
    """Return the text of a reason. The name replaces a missing parameter, so that a translation never fails."""
    params = {name: _translate_param(name, value, language) for name, value in reason.params.items()}
    exit_status = reason.params.get("exit_status")
    if isinstance(exit_status, int) and is_failure(exit_status):
        params["status"] = translate_failed_command(exit_status, language)
    return catalog_of(language).codes[reason.code].format_map(_TolerantParams(params))


def translate_all(reasons: Iterable[Reason], language: Language = "en") -> str:
    """Join the texts of several reasons, one sentence for each."""
    return ui_text("joins", "sentences", language).join(translate(reason, language) for reason in reasons)


def translate_state(state: State, language: Language = "en") -> str:
    """Return the text of a state; empty for Idle."""
    data = {name: getattr(state, name) for name in state.__struct_fields__}
    return catalog_of(language).states[name_of(state)].format(**data)


def mode_title(mode: Mode, language: Language) -> str:
    """Return the title of a mode; for a custom mode its own title or its name."""
    if language in mode.titles:
        return mode.titles[language]
    return catalog_of(language).mode_titles.get(mode.name, mode.name)


def mode_meaning(mode: Mode, language: Language) -> str:
    """Return the description of a mode; for a custom mode its own or that of its base."""
    if language in mode.descriptions:
        return mode.descriptions[language]
    return catalog_of(language).mode_meanings[mode.base or mode.name]


def translate_promise(promise: SandboxPromise, language: Language) -> str:
    return catalog_of(language).promises[promise]


def translate_means(promise: SandboxPromise, kernel: Kernel, language: Language) -> str:
    """Return the kernel feature that keeps a promise here, or all features that would keep it."""
    available = kernel.means_for(promise)
    means = (available,) if available is not None else MEANS[promise]
    return ui_text("joins", "alternatives", language).join(each.needs for each in means)


def translate_broken_promises(kernel: Kernel, language: Language) -> str:
    """List the promises that this kernel cannot keep, as one text."""
    promises = (translate_promise(promise, language) for promise in kernel.broken)
    return ui_text("joins", "promises", language).join(promises)


def translate_dangers(dangers: Sequence[str], language: Language) -> str:
    """List the danger marks of a call. Marks of single tools are not translated."""
    texts = catalog_of(language).dangers
    return ui_text("terminal", "comma", language).join(texts.get(danger, danger) for danger in dangers)


def translate_exit_status(exit_status: int, language: Language = "en") -> str:
    """Return an exit status with its signal, for example `exit status 137 (SIGKILL)`."""
    text = ui_text("calls", "exit_status", language, status=exit_status)
    name = signal_name(exit_status)
    return f"{text} ({name})" if name else text


def translate_failed_command(exit_status: int, language: Language) -> str:
    """Return the outcome of a command that ran and failed. Its call is executed, which reads as done."""
    return ui_text("calls", "failed_command", language, exit_status=translate_exit_status(exit_status, language))


def without_padding(text: str, language: Language) -> str:
    """Replace long runs of blanks and empty lines in a text with notes about them."""
    return replace_padding(
        text,
        lines=lambda count: f"\n[{ui_text('calls', 'empty_lines', language, count=count)}]\n",
        blanks=lambda count: f" [{ui_text('calls', 'blanks', language, count=count)}] ",
    )


def _translate_param(name: str, value: Any, language: Language) -> Any:
    """Translate a parameter: a mode, the status of a call, a decision about a call, or a list of reasons, also in the
    form in which a store returns it."""
    if isinstance(value, str) and name in ("mode", "hint"):
        return catalog_of(language).mode_titles.get(value, value)
    if isinstance(value, str) and name in ("status", "verdict"):
        return catalog_of(language).markdown.get(value, value)
    if not isinstance(value, list | tuple) or not value:
        return value
    try:
        return translate_all(msgspec.convert(value, list[Reason]), language)
    except msgspec.ValidationError:
        return value


class _TolerantParams(dict[str, Any]):
    """Formats a missing parameter as its name."""

    def __missing__(self, key: str) -> str:
        return f"({key})"


PilothouseError.text_of = staticmethod(translate)
