"""The command as a person or a script uses it: real processes, scripted models, exit codes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.scale import HANG_SECONDS

LOOK = {"tool": "read_file", "arguments": {"path": "a.txt"}}
WRITE = {"tool": "write_file", "arguments": {"path": "b.txt", "content": "written"}}


class Process(subprocess.Popen[str]):
    """A test that fails does not wait for its process."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None:
            self.kill()
        super().__exit__(kind, error, trace)

    def reads(self, text: str) -> str:
        """Standard output up to the line that holds the text."""
        assert self.stdout is not None
        output = ""
        for line in self.stdout:
            output += line
            if text in line:
                return output
        pytest.fail(f"ended without {text!r}: {output}")


class Command:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workspace = folder / "work"
        self.workspace.mkdir()
        (self.workspace / "a.txt").write_text("content of a")
        config = folder / "config.toml"
        config.touch()
        own = {"PILOTHOUSE_DATA_DIR": str(folder / "data"), "PILOTHOUSE_CONFIG": str(config)}
        self.environment = {**os.environ, **own, "LANG": "C.UTF-8"}

    def script(self, *answers: dict[str, Any]) -> str:
        path = self.folder / "script.json"
        path.write_text(json.dumps({"turn": answers}))
        return f"scripted:{path}"

    def start(self, *arguments: str, before: Sequence[str] = (), **options: Any) -> Process:
        return Process(
            [*before, sys.executable, "-m", "pilothouse.cli", *arguments],
            cwd=self.workspace,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def run(self, *arguments: str, stdin: str = "") -> tuple[int, str, str]:
        with self.start(*arguments) as process:
            output, errors = process.communicate(stdin, timeout=HANG_SECONDS)
        return process.returncode, output, errors


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


def test_a_turn_that_is_done_is_zero_and_prints_the_answer(command: Command) -> None:
    model = command.script({"calls": [WRITE]}, {"text": "All done."})
    code, output, errors = command.run("run", "please", "--model", model)
    assert (code, output) == (0, "All done.\n")
    assert "write_file" in errors
    assert (command.workspace / "b.txt").read_text() == "written"


def test_text_with_calls_is_printed_once(command: Command) -> None:
    model = command.script({"text": "I will look.", "calls": [LOOK]}, {"text": "It says so."})
    assert command.run("-p", "x", "--model", model)[1] == "I will look.\nIt says so.\n"


def test_standard_input_is_added_to_the_prompt(command: Command) -> None:
    model = command.script({"text": "ok"})
    code, output, _ = command.run(
        "run", "sum up", "--model", model, "--output-format", "stream-json", stdin="the notes"
    )
    lines = [json.loads(line) for line in output.splitlines()]
    first = next(line for line in lines if line["type"] == "message")
    assert (code, first["message"]["content"]) == (0, "sum up\n\nthe notes")
    assert [line["text"] for line in lines if line["type"] == "delta"] == ["ok"]
    assert lines[-1]["type"] == "result"
    assert lines[-1]["text"] == "ok"


def test_json_is_one_object(command: Command) -> None:
    code, output, _ = command.run("run", "x", "--model", command.script({"text": "ok"}), "--output-format", "json")
    result = json.loads(output)
    assert (code, result["text"], result["state"], result["exit_code"]) == (0, "ok", "idle", 0)


def test_a_call_that_needs_approval_is_three_and_can_be_decided_later(command: Command) -> None:
    code, output, _ = command.run(
        "run", "x", "--mode", "supervised", "--model", command.script({"calls": [WRITE]}), "--output-format", "json"
    )
    result = json.loads(output)
    assert (code, result["state"]) == (3, "awaiting_tool_approval")
    assert not (command.workspace / "b.txt").exists()
    model = command.script({"text": "thanks"})
    code, output, _ = command.run("--context", result["context_id"], "--model", model, stdin="y\n")
    assert code == 0
    assert "thanks" in output
    assert (command.workspace / "b.txt").read_text() == "written"


@pytest.mark.parametrize(("finish", "expected"), [("length", 53), ("content_filter", 1), ("refusal", 1)])
def test_an_incomplete_answer_has_its_own_exit_code_and_a_reason(command: Command, finish: str, expected: int) -> None:
    model = command.script({"text": "As I was say", "finish": finish}, {"text": "ing so."})
    code, output, errors = command.run("run", "x", "--model", model)
    assert (code, output) == (expected, "As I was say\n")
    assert "Continue" in errors
    if finish == "length":
        assert "then /continue" in errors


def test_a_program_reads_no_text_of_attempts_that_were_cut(command: Command) -> None:
    cut = {"deltas": ["Half ", "of ", "it"], "cut": 2}
    code, output, errors = command.run("run", "x", "--model", command.script(cut, {"text": "All of it."}))
    assert (code, output) == (0, "All of it.\n")
    assert "connection was lost" in errors


@pytest.mark.parametrize("mode", ["plan", "ask"])
def test_a_denial_by_the_mode_is_three(command: Command, mode: str) -> None:
    code, _, errors = command.run("run", "x", "--mode", mode, "--model", command.script({"calls": [WRITE]}))
    assert code == 3
    assert f"{mode.title()} mode doesn't allow write_file" in errors
    assert not (command.workspace / "b.txt").exists()


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([{"error": {"status": 400}}], 1),
        ([{"error": {"status": 401}}], 4),
        ([{"calls": [LOOK]}] * 3, 53),
        ([], 1),
    ],
    ids=["error", "key", "limit", "script exhausted"],
)
def test_every_other_end_has_its_code(command: Command, answers: list[dict[str, Any]], expected: int) -> None:
    assert command.run("run", "x", "--model", command.script(*answers))[0] == expected


@pytest.mark.parametrize(
    ("arguments", "expected", "message"),
    [
        (["run"], 2, "required"),
        (["run", "x", "--mode", "yolo"], 2, "agent, supervised, review, plan, ask"),
        (["run", "x", "--model", "gpt"], 4, "openai:NAME"),
        (["run", "x", "--model", "openai:gpt-x"], 4, "OPENAI_API_KEY"),
        (["run", "x", "--model", "scripted:/nowhere"], 4, "nowhere"),
        (["run", "   ", "--model", "demo"], 2, "empty"),
        (["run", "x", "--context", "nobody"], 1, "doesn't exist"),
        (["run", "x", "--workspace", "/nowhere"], 1, "/nowhere"),
        (["--nonsense"], 2, "nonsense"),
    ],
)
def test_a_usage_error_is_reported(command: Command, arguments: list[str], expected: int, message: str) -> None:
    code, _, errors = command.run(*arguments)
    assert code == expected
    assert message in errors


def test_a_data_directory_in_use_says_to_try_later(command: Command) -> None:
    with command.start("--model", command.script()) as first:
        assert first.stdout is not None
        first.stdout.readline()
        code, _, errors = command.run("run", "x", "--model", "demo")
        first.kill()
    assert code == 75
    assert f"process {first.pid}" in errors


def test_the_version_is_one_line(command: Command) -> None:
    code, output, _ = command.run("--version")
    assert code == 0
    assert output.startswith("pilothouse 0.")


def test_a_conversation_line_by_line(command: Command) -> None:
    model = command.script(
        {"text": "Hello."},
        {"calls": [WRITE]},
        {"text": "Written."},
        {"calls": [{"tool": "ask_user", "arguments": {"questions": [{"question": "Which?", "options": ["a", "b"]}]}}]},
        {"text": "I see."},
    )
    typed = "hi\n/mode supervised\nwrite it\ny\nask me\n2\n/nonsense\n/mode\n/fork try\n/branch\n/audit\n/help\n/quit\n"
    code, output, errors = command.run("--model", model, stdin=typed)
    assert (code, errors) == (0, "")
    for expected in (
        "Hello.",
        "🛡️",
        "+written",
        "Written.",
        "│ Which?",
        "I see.",
        "Unknown command /nonsense",
        "Chat only",
        "* try ← main",
        "call_started",
        "/continue",
        "Saved. To come back",
    ):
        assert expected in output, f"{expected!r} is missing in:\n{output}"
    assert (command.workspace / "b.txt").read_text() == "written"


def test_no_control_sequence_of_a_model_or_tool_reaches_the_terminal(command: Command) -> None:
    evil = "\x1b]52;c;ZXZpbA==\x07 \x1b[2J \u202e reversed \x9b31m \r\b over"
    (command.workspace / "a.txt").write_text(evil)
    call = {"tool": "execute", "arguments": {"command": f"echo '{evil}'"}}
    model = command.script({"text": evil, "calls": [LOOK]}, {"calls": [call]}, {"text": evil})
    _, output, errors = command.run("--mode", "review", "--model", model, stdin="go\nn\n/quit\n")
    for text in (output, errors):
        assert not set(text) & {"\x1b", "\x07", "\u202e", "\x9b", "\b", "\r"}
    assert "⟨U+001B⟩" in output
    _, output, errors = command.run("run", "go", "--model", command.script({"text": evil}))
    assert not set(output + errors) & {"\x1b", "\x07", "\u202e", "\x9b", "\b", "\r"}


def test_ctrl_c_cancels_the_turn_and_the_conversation_continues(command: Command) -> None:
    model = command.script({"deltas": ["one ", "two"], "silence": 1}, {"text": "again"})
    with command.start("--model", model) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        printed = ""
        while "one" not in printed:
            printed += process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        while "Cancelled" not in printed:
            printed += process.stdout.read(1)
        output, errors = process.communicate("/continue\n/quit\n", timeout=HANG_SECONDS)
    assert process.returncode == 0
    assert "again" in output
    assert errors == ""


def test_ctrl_c_ends_a_run_with_130(command: Command) -> None:
    model = command.script({"text": "x" * 40, "silence": 1})
    with command.start("run", "x", "--model", model, "--output-format", "stream-json") as process:
        assert process.stdin is not None
        process.stdin.close()
        process.reads('"delta"')
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("arguments", [["run", "x", "--output-format", "stream-json"], []])
def test_a_signal_that_ends_a_conversation_ends_its_command_and_keeps_undo(
    command: Command, arguments: list[str], number: signal.Signals
) -> None:
    line = "echo $$ > pid; echo changed > a.txt; echo under$((1+1))way; while :; do sleep 60; done"
    model = command.script({"calls": [{"tool": "execute", "arguments": {"command": line}}]}, {"text": "x"})
    with command.start(*arguments, "--mode", "agent", "--model", model) as process:
        assert process.stdin is not None
        if arguments:
            process.stdin.close()
        else:
            process.stdin.write("go\n")
            process.stdin.flush()
        process.reads("under2way")
        process.send_signal(number)
        assert process.wait(30) == 128 + number
    shell = int((command.workspace / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(shell, 0)
    listed = command.run("contexts")[1]
    context_id = listed.split()[0]
    code, output, _ = command.run("--context", context_id, "--model", model, stdin="/undo\n/quit\n")
    assert code == 0
    assert (command.workspace / "a.txt").read_text() == "content of a", output


def test_a_run_in_the_background_ignores_ctrl_c_and_its_commands_do_not(command: Command) -> None:
    look = {"tool": "execute", "arguments": {"command": "grep SigIgn /proc/self/status"}}
    model = command.script({"calls": [look]}, {"text": "x" * 40, "delta_delay": 0.001})
    ignored = ["sh", "-c", 'trap "" INT QUIT; exec "$@"', "sh"]
    with command.start("run", "x", "--model", model, "--output-format", "stream-json", before=ignored) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        output = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        output += process.stdout.read()
        assert process.wait(30) == 0
    status = next(line for line in output.splitlines() if "SigIgn:" in line)
    ignored_signals = int(status.partition("SigIgn:")[2].lstrip("\\t")[:16], 16)
    assert not ignored_signals & (1 << (signal.SIGINT - 1) | 1 << (signal.SIGQUIT - 1))


def test_the_list_of_conversations_can_be_asked_for_by_its_name(command: Command) -> None:
    command.run("run", "Good morning", "--model", command.script({"text": "x"}))
    listed = command.run("contexts", "list")
    assert listed == command.run("contexts")
    assert (listed[0], "Good morning" in listed[1]) == (0, True)
    context_id = listed[1].split()[0]
    command.run("contexts", "archive", context_id)
    assert command.run("contexts", "list", "--archived")[1].split()[0] == context_id
    assert command.run("contexts", "--archived", "list")[1].split()[0] == context_id


def test_an_undo_of_many_files_names_some_and_counts_the_rest(command: Command) -> None:
    line = "for n in $(seq 30); do echo x > new$n; done"
    model = command.script({"calls": [{"tool": "execute", "arguments": {"command": line}}]}, {"text": "x"})
    code, output, _ = command.run("--mode", "agent", "--model", model, stdin="go\n/undo\n/quit\n")
    (undone,) = [line for line in output.splitlines() if "Reverted " in line]
    assert (code, undone.count("new"), undone.endswith("and 10 more")) == (0, 20, True)


def test_output_is_chinese_in_a_chinese_locale(command: Command) -> None:
    command.environment["LANG"] = "zh_CN.UTF-8"
    code, output, _ = command.run("--model", "demo", stdin="列出\n/quit\n")
    assert code == 0
    assert "演示模型" in output
    assert "a.txt" in output


def test_input_from_a_plain_file_and_a_last_line_without_an_end(command: Command) -> None:
    typed = command.folder / "typed"
    typed.write_text("hello\n/mode")
    with typed.open() as stdin:
        completed = subprocess.run(
            [sys.executable, "-m", "pilothouse.cli", "--model", command.script({"text": "Hello back."})],
            cwd=command.workspace,
            env=command.environment,
            stdin=stdin,
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
        )
    assert completed.returncode == 0, completed.stderr
    assert "Hello back." in completed.stdout
    assert "Chat only" in completed.stdout


def test_a_terminal_gets_all_of_a_long_output(command: Command) -> None:
    """A terminal shares its descriptor between input and output: reading must not make writing lossy."""
    import pty

    long = "".join(f"line {number}\n" for number in range(20_000))
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "pilothouse.cli", "--model", command.script({"text": long})],
        cwd=command.workspace,
        env=command.environment,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    os.write(controller, b"go\n")
    output = b""
    while b"line 19999" not in output:
        time.sleep(0.001)  # a slow reader
        output += os.read(controller, 4096)
    os.write(controller, b"/quit\n")
    try:
        while True:
            output += os.read(controller, 65536)
    except OSError:
        pass
    assert process.wait(10) == 0
    os.close(controller)
    assert b"BlockingIOError" not in output
    assert output.count(b"line ") >= 20_000


def test_a_call_that_runs_for_over_a_second_is_named(command: Command) -> None:
    call = {"tool": "execute", "arguments": {"command": "sleep 1.6"}}
    model = command.script({"calls": [call]}, {"text": "done"})
    _, output, _ = command.run("--model", model, stdin="go\n/quit\n")
    assert output.count("Running execute…") == 1


DEAD = {"error": {"status": 503, "message": "down", "retry_after": "0"}}


@pytest.mark.parametrize("form", ["text", "json"])
def test_each_retry_is_printed_for_a_script_that_waits(command: Command, form: str) -> None:
    model = command.script(DEAD, DEAD, {"text": "back"})
    code, _, errors = command.run("run", "please", "--model", model, "--output-format", form)
    assert code == 0
    assert [line[line.index("Retrying in ") :][-9:] for line in errors.splitlines()] == ["(1 of 5).", "(2 of 5)."]


def test_notices_for_a_script_are_in_its_language(command: Command) -> None:
    command.environment["LANG"] = "zh_CN.UTF-8"
    _, _, errors = command.run("run", "please", "--mode", "supervised", "--model", command.script({"calls": [WRITE]}))
    assert "待批准：" in errors
    assert "查看并决定：pilothouse --context" in errors


def test_a_turn_that_repeats_the_same_call_ends_with_a_hint_how_to_continue(command: Command) -> None:
    model = command.script(*[{"calls": [LOOK]}] * 3)
    code, _, errors = command.run("run", "please", "--model", model)
    assert code == 53
    assert "3 times in a row" in errors
    assert "do differently" in errors
    assert "then /continue" in errors


@pytest.mark.parametrize("where", ["option", "variable"])
def test_a_named_configuration_file_that_is_missing_lifts_no_restriction(command: Command, where: str) -> None:
    missing = str(command.folder / "misspelt.toml")
    if where == "variable":
        command.environment["PILOTHOUSE_CONFIG"] = missing
    code, output, errors = command.run("run", "hello", *(("--config", missing) if where == "option" else ()))
    assert (code, output) == (4, "")
    assert f"The configuration file '{missing}'" in errors


def test_each_result_of_a_round_names_its_call(command: Command) -> None:
    missing = {"tool": "read_file", "arguments": {"path": "none.txt"}}
    commands = [{"tool": "execute", "arguments": {"command": f"echo {text}"}} for text in ("first", "second")]
    model = command.script({"calls": [LOOK, missing, *commands]}, {"text": "Done."})
    _, output, _ = command.run("--mode", "agent", "--model", model, stdin="go\n/quit\n")
    for result in ("✓ read_file a.txt: content of a", "✓ execute echo first: first", "✓ execute echo second: second"):
        assert f"│   {result}\n" in output
    assert "│   ✗ read_file none.txt: " in output


@pytest.mark.parametrize("count", [1, 2])
def test_output_of_a_command_is_printed_below_the_name_of_its_call(command: Command, count: int) -> None:
    """A single call is named by the line that requests it."""
    line = "echo under$((1+1))way; until [ -e seen ]; do sleep 0.01; done"
    call = {"tool": "execute", "arguments": {"command": line}}
    model = command.script({"calls": [call, LOOK][:count]}, {"text": "Done."})
    with command.start("--mode", "agent", "--model", model) as process:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        shown = process.reads("under2way").splitlines()
        (command.workspace / "seen").touch()
        process.communicate("/quit\n", timeout=HANG_SECONDS)
    assert shown[-2].startswith("│ · execute echo under") == (count == 2), shown
    assert "· execute" in shown[-2]


def test_the_failed_one_of_several_calls_is_named_for_a_script(command: Command) -> None:
    calls = [{"tool": "execute", "arguments": {"command": f"exit {status}"}} for status in (0, 3)]
    missing = {"tool": "read_file", "arguments": {"path": "none.txt"}}
    _, _, errors = command.run("run", "go", "--model", command.script({"calls": [*calls, missing]}, {"text": "x"}))
    assert "· execute exit 3: exit code 3\n" in errors
    assert "· read_file none.txt: " in errors


def test_a_data_directory_inside_a_repository_is_warned_of(command: Command) -> None:
    model = command.script({"text": "ok"})
    assert command.run("run", "x", "--model", model, "--data-dir", "phd")[2].count("git clean") == 0
    (command.workspace / ".git").mkdir()
    code, output, errors = command.run("run", "x", "--model", model, "--data-dir", "phd")
    assert (code, output) == (0, "ok\n")
    assert errors.count("git clean -x deletes it") == 1
