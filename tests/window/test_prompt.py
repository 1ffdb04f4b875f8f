"""The text of a persona in the prompt."""

from pilothouse.domain.personas import Persona
from pilothouse.window.prompt import DEFAULT_IDENTITY, persona_text


def test_without_a_persona_the_default_identity_is_used() -> None:
    assert persona_text(None) == DEFAULT_IDENTITY


def test_the_prompt_contains_every_part_of_a_persona() -> None:
    ada = Persona(
        "ada",
        name="Ada",
        role="reviewer of changes",
        identity="You have read much code.",
        communication_style="Short and friendly.\n",
        principles=("Say what you have not checked.", " ", "Praise\nonce."),
        prompt="\nBegin with the tests.\n",
    )
    assert persona_text(ada) == (
        "Your name is Ada. Your role: reviewer of changes.\n\n"
        "You have read much code.\n\n"
        "How you speak: Short and friendly.\n\n"
        "Your principles:\n- Say what you have not checked.\n- Praise\nonce.\n\n"
        "Begin with the tests."
    )


def test_empty_parts_of_a_persona_are_left_out_and_the_default_identity_is_used() -> None:
    assert persona_text(Persona("reader")) == f"Your name is reader.\n\n{DEFAULT_IDENTITY}"
    blank = Persona("reader", identity=" \n", communication_style=" ", principles=("",), prompt="\n")
    assert persona_text(blank) == persona_text(Persona("reader"))
