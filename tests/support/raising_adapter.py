"""A model with a bug: an adapter that raises an error of none of the kinds that adapters may raise."""

from collections.abc import AsyncGenerator, Callable

from pilothouse.llm.base import ModelEvent, ModelRequest
from pilothouse.llm.script import Script
from pilothouse.llm.scripted import ScriptedAdapter


class RaisingAdapter(ScriptedAdapter):
    """Raises RuntimeError where `raises`, called for each request, is true: at once, or after the first event."""

    def __init__(self, script: Script, *, raises: Callable[[], bool] = lambda: True, after_event: bool = False) -> None:
        super().__init__(script)
        self.raises = raises
        self._after_event = after_event

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        raises = self.raises()
        if raises and not self._after_event:
            self.requests.append(request)
            raise RuntimeError("a bug")
        async for event in super().stream(request):
            yield event
            if raises:
                raise RuntimeError("a bug")
