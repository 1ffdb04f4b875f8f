"""English texts of the tour, by the line that each step types."""

from collections.abc import Mapping

TOUR: Mapping[str, str] = {
    "write tour/notes.txt: hello": "In Agent mode, everything runs without asking.",
    "/supervised": "The mode decides how much the agent may do. In Supervised mode, every action needs your approval.",
    "write tour/one.txt: first": (
        "This action needs your approval. When you're asked, type ! and then 2: you see the exact rule before you save "
        "it."
    ),
    "write tour/two.txt: second": "Your rule allows this one.",
    "/why": "Why did it run? The audit log has the answer.",
    "/rules": "These are your rules. To remove one, type /rules revoke NUMBER.",
    "/review": "Review mode reads freely and asks before making changes. No rule gets around it.",
    "/elevate 1": "You can allow more for now, always with a limit. Here: one action.",
    "write tour/one.txt: changed": "This one runs. The next one would need approval again.",
    "/plan": "Plan mode changes nothing, whatever the model asks for.",
    "run rm -rf tour": "Not allowed: the turn ends here.",
    "/agent": "Back to Agent mode. Next: branches.",
    "/fork idea": "Start a branch from here. Nothing is copied.",
    "write tour/idea.txt: what if": "This message exists only on the branch.",
    "/branch main": "Back to the main branch.",
    "/merge idea preview": "Preview what a merge would bring over.",
    "/merge idea": "Merge the branch.",
    "work in 4 steps": (
        "Messages that you type while the agent works are queued. Type /pause, then /resume. Ctrl-C cancels."
    ),
    "delegate: list": "A sub-agent can never do more than this conversation may.",
    "/usage": "The tokens used so far, including sub-agents.",
    "/export": "Export the whole conversation to a file.",
    "/audit": "Finally: every decision, who made it and why.",
}
