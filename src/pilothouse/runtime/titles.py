"""Titles: a person's own, or one that a model makes beside the first turn, never delaying it."""

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput, PilothouseError
from pilothouse.domain.messages import Message, Usage, said
from pilothouse.domain.prices import priced
from pilothouse.llm.base import ModelRequest, UserText
from pilothouse.llm.whole import whole_answer
from pilothouse.runtime.contexts import Contexts
from pilothouse.runtime.live import Live

TITLE_AT_MOST = 200
_MADE_AT_MOST = 60
_READ_AT_MOST = 4000
_INSTRUCTION = (
    "Give the conversation that begins with this message a title of at most six words, in its language. Only the title."
)


async def set_title(contexts: Contexts, context_id: str, title: str) -> None:
    """Raises: InvalidInput for one that is empty, too long or more than a line; NotFound, StoreError."""
    cleaned = clean_title(title)
    async with contexts.locked(context_id) as live:
        draft = live.draft()
        draft.core.update(title=cleaned, titled_by="person")
        await live.commit(draft)


def clean_title(title: str) -> str:
    """Raises: InvalidInput for one that is empty, too long or not to be shown."""
    cleaned = " ".join(title.split())
    if not 1 <= len(cleaned) <= TITLE_AT_MOST or not cleaned.isprintable():
        raise InvalidInput(Code.INVALID_NAME, value=title[:TITLE_AT_MOST])
    return cleaned


async def make_title(contexts: Contexts, live: Live, first: Message) -> None:
    """Ask the title's model. Whatever goes wrong, the first line stays the title; a person's own is never replaced."""
    try:
        title, usage = await _asked(contexts, first)
        async with contexts.locked(live.id) as present:
            if not title or present.core.titled_by != "first_line":
                return
            draft = present.draft()
            draft.core.update(title=title, titled_by="model", usage=draft.value("usage").plus(usage))
            await present.commit(draft)
    except PilothouseError:
        pass
    except Exception as error:  # an adapter is foreign code, and nobody waits for this
        contexts.parts.report(error)


async def _asked(contexts: Contexts, first: Message) -> tuple[str, Usage]:
    """Raises: ModelError."""
    titles = contexts.parts.titles
    assert titles is not None
    messages = [titles.adapter.encode(UserText(content=said(first)[:_READ_AT_MOST]))]
    request = ModelRequest(model=titles.model, system=_INSTRUCTION, messages=messages, purpose="title")
    words, used = await whole_answer(titles.adapter, request, characters=_READ_AT_MOST)
    usage = priced(used, contexts.parts.catalogue.facts(titles.model).price)
    line = next((line.strip() for line in words.splitlines() if line.strip()), "")
    shown = "".join(character for character in line.strip("\"'#* ") if character.isprintable())
    return shown[:_MADE_AT_MOST], usage
