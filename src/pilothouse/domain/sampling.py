"""Sampling settings: how freely a model answers, and how much at most."""

from typing import Annotated

from msgspec import Meta

from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.value import Value

MAX_TEMPERATURE = 2.0
MAX_OUTPUT_TOKENS = 1_000_000
Temperature = Annotated[float, Meta(ge=0, le=MAX_TEMPERATURE)]
OutputTokens = Annotated[int, Meta(ge=1, le=MAX_OUTPUT_TOKENS)]


class Sampling(Value, kw_only=True):
    """Settings for the answers of a model. None leaves a setting to the provider."""

    temperature: Temperature | None = None
    max_output_tokens: OutputTokens | None = None
    """The tokens of an answer at most, reasoning included."""

    def or_else(self, other: "Sampling") -> "Sampling":
        """These settings, with those of `other` where there are none."""
        return Sampling(
            temperature=self.temperature if self.temperature is not None else other.temperature,
            max_output_tokens=self.max_output_tokens if self.max_output_tokens is not None else other.max_output_tokens,
        )


def sampling_fault(sampling: Sampling) -> tuple[str, str] | None:
    """The first field that is out of range, with the allowed values. NaN is out of range."""
    if sampling.temperature is not None and not 0 <= sampling.temperature <= MAX_TEMPERATURE:
        return "temperature", f"a number from 0 to {MAX_TEMPERATURE:g}"
    if sampling.max_output_tokens is not None and not 1 <= sampling.max_output_tokens <= MAX_OUTPUT_TOKENS:
        return "max_output_tokens", f"a whole number from 1 to {MAX_OUTPUT_TOKENS}"
    return None


def check_sampling(sampling: Sampling) -> None:
    """Raises: InvalidInput for a setting that is out of range."""
    fault = sampling_fault(sampling)
    if fault is not None:
        field, allowed = fault
        raise InvalidInput(
            Code.INVALID_REQUEST, detail=f"{field} is {getattr(sampling, field)}; the allowed value is {allowed}"
        )
