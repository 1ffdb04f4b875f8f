"""The names of models: `provider:name`, or the name alone."""

from collections.abc import Container

from pilothouse.domain.value import Value


class ModelName(Value):
    """A model and its provider."""

    provider: str
    name: str
    """The provider's own name of the model."""

    @classmethod
    def parse(cls, text: str, providers: Container[str], *, default: str) -> "ModelName":
        """Parse a name. A prefix counts as a provider only if `providers` has it, since names may contain colons: of
        `ollama:llama3.2:3b`, the first one ends the provider. A bare name means the provider `default`."""
        prefix, colon, name = text.partition(":")
        return cls(prefix, name) if colon and prefix in providers else cls(default, text)

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}"
