"""English texts of the demo model."""

from collections.abc import Mapping

DEMO: Mapping[str, str] = {
    "help": (
        "I'm the demo model. I follow a script and need no API key; everything else here is real. Try:\n"
        "  list · read README.md · write notes.txt: hello · replace hello with bye in notes.txt\n"
        "  run date · ask me · delegate: list · work in 4 steps\n"
        "Then switch the mode and try again: in the message box of the web client, or with /plan, /supervised, "
        "/review, /ask and /agent in the terminal."
    ),
    "no_tools": (
        "I have no tools in this mode, so I can only chat. To let me look at files, switch to Agent, Review or Plan "
        "mode."
    ),
    "result": "Result:\n{result}",
    "call": "Using {tool}.",
    "question": "Tea or coffee?",
    "tea": "tea",
    "coffee": "coffee",
    "steps_done": "All {total} steps are done.",
    "step": "Step {number}.",
}
