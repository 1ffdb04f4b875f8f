"""Stories of whole turns: the exact states passed through, with the scripted model."""

from pathlib import Path

from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.testing.world import World

TEXT_TURN = [
    "processing_user_message",
    "enhancing_system_prompt",
    "optimizing_context",
    "preparing_llm_request",
    "connecting_to_llm",
    "awaiting_llm_first_chunk",
    "streaming_llm_response",
    "processing_llm_response",
    "saving_message",
    "idle",
]


async def test_a_text_answer_passes_through_every_state_once(tmp_path: Path) -> None:
    world = World(tmp_path, Answer(text="hi there"))
    context_id = await world.start()
    await world.turn(context_id)
    assert world.states == TEXT_TURN


async def test_a_tool_round_in_agent_mode_runs_the_call_and_asks_the_model_again(tmp_path: Path) -> None:
    calls = (ScriptedCall(tool="look", arguments={"text": "a"}),)
    world = World(tmp_path, Answer(calls=calls), Answer(text="done"))
    context_id = await world.start()
    await world.turn(context_id)
    assert world.states == [
        *TEXT_TURN[:6],
        "streaming_llm_response",
        "streaming_llm_response",
        "processing_llm_response",
        "parsing_tool_calls",
        "executing_tool",
        "collecting_tool_results",
        "processing_tool_results",
        "tool_auto_loop",
        *TEXT_TURN[1:],
    ]
    assert world.look.ran == ["a"]
    messages = await world.runtime.read_messages(context_id)
    assert [type(message).__name__ for message in messages] == ["Text", "ToolRequest", "ToolResult", "Text"]
