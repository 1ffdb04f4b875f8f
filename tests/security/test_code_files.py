"""Files that make programs run code: one list, by any way that leads to them; and ordinary work that asks nobody."""

import os
from pathlib import Path

import pytest

from pilothouse.domain.codes import Code
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.calls import PersonsDecision
from pilothouse.sandbox.code_files import programs
from pilothouse.sandbox.workspace import Workspace
from pilothouse.testing.world import World
from pilothouse.tools.base import parse_arguments
from pilothouse.tools.builtin import builtin_tools

TOOLS = {tool.name: tool for tool in builtin_tools(os.environ)}
DONE = Answer(text="done")
LISTED = sorted({path for program in programs() for path in program.paths})
DAILY = (
    *("package.json", "pyproject.toml", "setup.py", "conftest.py", "Makefile", "Dockerfile", "docker-compose.yml"),
    *("build.rs", "src/main.py", "README.md", "AGENTS.md", "CLAUDE.md", ".cursorrules", ".gitignore", ".env"),
    *(".eslintrc.json", ".prettierrc", "tsconfig.json", "vite.config.ts", "github/workflows/x", "vscode/tasks.json"),
    *("docs/.github.md", "gradle/libs.versions.toml", ".config/x.toml", "mise/en/place.md", "etc/x", "Cargo.toml"),
    *(".github/CODEOWNERS", ".github/dependabot.yml", "CMakeLists.txt", ".docker/php/Dockerfile", "npmrc", "x.npmrc"),
)


def example(path: str) -> str:
    """A file that the path means."""
    return (f"{path}x" if path.endswith("/") else path).replace("*", "x")


def asks(workspace: Workspace, path: str) -> bool:
    reason = workspace.ask(path)
    return reason is not None and reason.code is Code.RUNS_CODE


def test_every_listed_path_is_asked_for_at_any_depth_in_any_case_and_through_links(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    (tmp_path / "deep").mkdir()
    for number, path in enumerate(map(example, LISTED)):
        assert asks(workspace, path), path
        assert asks(workspace, f"a/b/{path.upper()}"), path
        assert asks(workspace, f"deep/../{path}"), path
        (tmp_path / "deep" / f"{number}").symlink_to(f"../{path}")
        assert asks(workspace, f"deep/{number}"), path
    folders = [path for path in LISTED if path.endswith("/")]
    for path in folders:
        assert asks(workspace, path.rstrip("/")), path
        assert asks(workspace, f"{path}a/b/c"), path


@pytest.mark.parametrize(
    "path",
    [".vs\u200ccode/tasks.json", "a/.ｖscode/tasks.json", ".NPMRC", ".npmrc\u200d", ".npmrc\ufe0f", ".vs\u034fcode/x"],
)
def test_a_name_that_a_file_system_may_take_for_a_listed_one_is_asked_for(tmp_path: Path, path: str) -> None:
    assert asks(Workspace(tmp_path), path)


def test_a_name_that_a_file_system_may_take_for_git_is_refused(tmp_path: Path) -> None:
    assert Workspace(tmp_path).limit(".g\u200cit/config", writing=True) is not None


@pytest.mark.parametrize("path", DAILY)
def test_ordinary_work_asks_nobody(tmp_path: Path, path: str) -> None:
    assert not asks(Workspace(tmp_path), path)


def test_where_the_workspace_itself_lies_does_not_matter(tmp_path: Path) -> None:
    root = tmp_path / ".vscode/extensions/mine"
    root.mkdir(parents=True)
    assert not asks(Workspace(root), "src/extension.ts")
    assert asks(Workspace(root), ".vscode/tasks.json")


def test_every_entry_names_its_program_and_where_that_is_documented() -> None:
    for program in programs():
        assert program.name
        assert len(program.source) > 10, program.name
        assert program.paths, program.name
    assert len(LISTED) == sum(len(program.paths) for program in programs()), "a path is listed twice"


WRITING = (
    "echo x > .npmrc",
    "echo x >> sub/.NPMRC",
    "echo x >| .npmrc",
    "echo x &> .npmrc",
    "echo x | tee -a .github/workflows/ci.yml",
    "cat <<EOF > .mise.toml\nx\nEOF",
    "cp a .vscode/",
    "cp evil/.npmrc .",
    "mv a .vscode/tasks.json",
    "sed -i s/a/b/ .gdbinit",
    "ln -s a .exrc",
    "dd if=a of=.npmrc",
    "git checkout HEAD -- .npmrc",
    "git add -v .npmrc > .npmrc",
    "rm -rf .idea",
    "chmod +x .husky/pre-commit",
    "curl -o .npmrc http://x",
    "find . -exec cp {} .npmrc ;",
    "ls | xargs cp -t .vscode",
    "cd .vscode && echo x > tasks.json",
    "cd sub && echo x > ../.npmrc",
    "env -C .vscode tee tasks.json",
    "env --chdir=.vscode tee tasks.json",
    "tar -C .vscode -xf a.tar tasks.json",
    "git -C .vscode checkout tasks.json",
    "git --work-tree .vscode checkout tasks.json",
    "ls | xargs -I{} cp {} .npmrc",
    "echo x > linked/tasks.json",
    "sh -c 'echo x > .npmrc'",
    "sudo tee .npmrc",
    "tee .n''pmrc",
    "echo x >> ~/.npmrc",
    "echo x >> /home/somebody/.bashrc",
    "cp x /home/somebody/.config/autostart/x.desktop",
    "echo x > /etc/cron.d/x",
)
NOT_WRITING = (
    "cat .npmrc",
    "ls -la .vscode",
    "git add .npmrc",
    "git add .github/workflows/ci.yml && git commit -m 'ci: x'",
    "npx eslint -c eslint.config.js src",
    "pylint --rcfile=.pylintrc src",
    "npm install",
    "make test",
    "echo x > package.json",
    "sed -i s/a/b/ src/main.py",
    "python3 -m pytest tests > out.txt",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (".vscode", "sub", "evil"):
        (tmp_path / name).mkdir()
    (tmp_path / "linked").symlink_to(".vscode")
    return tmp_path


async def asked(folder: Path, command: str) -> bool:
    arguments = parse_arguments("execute", TOOLS["execute"].parameters, {"command": command})
    prepared = await TOOLS["execute"].prepare(arguments, Workspace(folder))
    assert prepared.limit is None
    return prepared.ask is not None and prepared.ask.code is Code.RUNS_CODE


@pytest.mark.parametrize("command", WRITING)
async def test_a_command_that_plainly_writes_one_asks(folder: Path, command: str) -> None:
    assert await asked(folder, command)


@pytest.mark.parametrize("command", NOT_WRITING)
async def test_a_command_that_reads_or_records_one_does_not_ask(folder: Path, command: str) -> None:
    assert not await asked(folder, command)


async def test_no_mode_and_no_rule_lets_a_command_write_one_by_itself(folder: Path) -> None:
    call = ScriptedCall(tool="execute", arguments={"command": "echo x > .npmrc"})
    world = World(folder, Answer(text="I write", calls=(call,)), DONE, tools=list(TOOLS.values()))
    context_id = await world.start("agent")
    await world.turn(context_id)
    (pending,) = await world.runtime.pending_calls(context_id)
    assert pending.reason.code is Code.RUNS_CODE
    assert await world.runtime.rule_offers(context_id, pending.id) == []
    assert not (folder / ".npmrc").exists()


async def test_a_link_that_appears_after_the_decision_leads_nowhere(folder: Path) -> None:
    """Both calls are decided before the first one runs."""
    calls = (
        ScriptedCall(tool="execute", arguments={"command": "ln -s .vscode here"}),
        ScriptedCall(tool="write_file", arguments={"path": "here/tasks.json", "content": "{}"}),
    )
    world = World(folder, Answer(text="I do", calls=calls), DONE, tools=list(TOOLS.values()))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    link, write = await world.runtime.pending_calls(context_id)
    os.symlink(".vscode", folder / "here")
    decisions = [
        PersonsDecision(id=link.id, verdict="reject"),
        PersonsDecision(id=write.id, verdict="approve", digest=write.digest),
    ]
    await world.runtime.decide(context_id, decisions)
    await world.runtime.rested(context_id)
    assert not (folder / ".vscode/tasks.json").exists()
