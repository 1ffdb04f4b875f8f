"""What a persona says to the model."""

from pilothouse.domain.personas import Persona
from pilothouse.window.persona import DEFAULT_IDENTITY, persona_text


def test_without_a_persona_the_usual_identity_is_told() -> None:
    assert persona_text(None) == DEFAULT_IDENTITY


def test_everything_that_a_persona_has_is_told_in_plain_words() -> None:
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


def test_what_is_empty_is_left_out_and_the_usual_identity_takes_its_place() -> None:
    assert persona_text(Persona("reader")) == f"Your name is reader.\n\n{DEFAULT_IDENTITY}"
    blank = Persona("reader", identity=" \n", communication_style=" ", principles=("",), prompt="\n")
    assert persona_text(blank) == persona_text(Persona("reader"))
