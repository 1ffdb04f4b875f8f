"""Processors and scorers: of the person's files and of packages, with clear errors, and never of a project."""

import re
from pathlib import Path

import pytest

from pilothouse.app import build_runtime
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.messages import Text
from pilothouse.domain.value import MessageId
from pilothouse.llm.script import Answer, Script
from pilothouse.llm.scripted import ScriptedAdapter
from pilothouse.runtime.runtime import Runtime
from pilothouse.settings import read_settings
from tests.config.test_configuration import configured, trust
from tests.support.live_contexts import pool_of

DOCS = Path(__file__).parents[2] / "docs/configuration.md"
CHECKS = """
import msgspec

async def shout(messages):
    return [msgspec.structs.replace(message, content=message.content.upper()) for message in messages]

async def mark(messages):
    return [msgspec.structs.replace(message, content=message.content + "!") for message in messages]

def score(message):
    return 7

def plain(messages):
    return messages
"""


def runtime_of(folder: Path, config: str, checks: str = CHECKS) -> Runtime:
    (folder / "config.toml").write_text(config)
    (folder / "checks.py").write_text(checks)
    environment = {"PILOTHOUSE_MODEL": "demo", "PATH": "/usr/bin:/bin"}
    settings = read_settings(environment, data_dir=str(folder / "data"), config=str(folder / "config.toml"))
    return build_runtime(settings, environment, adapter=ScriptedAdapter(Script(turn=(Answer(text="ok"),))))


async def first_text(runtime: Runtime, workspace: Path, text: str) -> str:
    async with runtime:
        context_id = await runtime.contexts.create(workspace)
        await runtime.messages.send(context_id, text)
        await runtime.turns.rested(context_id)
        message = (await runtime.messages.read(context_id))[0]
        assert isinstance(message, Text)
        return message.content


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, entry_points: str) -> None:
    """Install a package, as far as Python can tell."""
    name = f"extras_{re.sub('[^a-z0-9]', '_', folder.name)}"
    info = folder / "site" / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "site" / f"{name}.py").write_text(CHECKS)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points.replace("MODULE", name))
    monkeypatch.syspath_prepend(str(folder / "site"))


async def test_processors_of_the_configuration_run_in_their_order(tmp_path: Path) -> None:
    runtime = runtime_of(tmp_path, 'processors = ["checks.py:shout", "checks.py:mark"]')
    assert await first_text(runtime, tmp_path, "quiet") == "QUIET!"


async def test_processors_of_packages_run_by_name_before_those_of_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "[pilothouse.processors]\nb = MODULE:mark\na = MODULE:shout\n")
    runtime = runtime_of(tmp_path, 'processors = ["checks.py:mark"]')
    assert await first_text(runtime, tmp_path, "quiet") == "QUIET!!"


@pytest.mark.parametrize("scorer", ["checks.py:score", "weights"])
async def test_the_scorer_is_a_function_of_a_file_or_one_of_a_package_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scorer: str
) -> None:
    install(tmp_path, monkeypatch, "[pilothouse.scorers]\nweights = MODULE:score\n")
    async with runtime_of(tmp_path, f'[window]\nstrategy = "importance"\nscorer = "{scorer}"') as runtime:
        message = Text(id=MessageId("1"), timestamp="", role="user", content="x")
        assert pool_of(runtime).dependencies.importance(message) == 7


@pytest.mark.parametrize(
    ("config", "detail"),
    [
        ('processors = ["checks.py:nothing"]', "checks.py:nothing.*AttributeError"),
        ('processors = ["gone.py:shout"]', "gone.py.* isn't a Python file"),
        ('processors = ["shout"]', "'shout' can't be loaded: use FILE.py:NAME"),
        ('processors = ["checks.py:plain"]', "must be an async function"),
        ('[window]\nstrategy = "importance"\nscorer = "weight"', "installed one: weights"),
        ('[window]\nstrategy = "importance"\nscorer = "checks.py:shout"', "isn't async"),
    ],
)
def test_a_function_that_cannot_be_loaded_is_named_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: str, detail: str
) -> None:
    install(tmp_path, monkeypatch, "[pilothouse.scorers]\nweights = MODULE:score\n")
    with pytest.raises(InvalidInput, match=detail) as refused:
        runtime_of(tmp_path, config)
    assert refused.value.reason.code is Code.INVALID_EXTENSION


def test_a_package_whose_processor_cannot_be_loaded_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "[pilothouse.processors]\nbroken = MODULE:missing\n")
    with pytest.raises(InvalidInput, match="'broken' can't be loaded: AttributeError"):
        runtime_of(tmp_path, "")


def test_a_scorer_without_its_strategy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"line 2.*strategy importance"):
        configured(tmp_path, '[window]\nscorer = "checks.py:score"')


@pytest.mark.parametrize("key", ['processors = ["x.py:f"]', '[window]\nscorer = "x.py:f"'])
def test_a_project_sets_neither(tmp_path: Path, key: str) -> None:
    configuration = configured(tmp_path, "")
    project = tmp_path / "project"
    (project / ".pilothouse").mkdir(parents=True)
    (project / ".pilothouse/config.toml").write_text(key)
    with pytest.raises(InvalidInput, match="A project can't set this key"):
        trust(configuration, str(project))


async def test_the_example_of_the_documentation_works(tmp_path: Path) -> None:
    section = DOCS.read_text().partition("## Processors and scorers")[2].partition("\n## ")[0]
    (checks,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    processors, scorer = re.findall(r"`((?:processors|scorer) = [^`]*)`", section)
    runtime = runtime_of(tmp_path, f'{processors}\n[window]\nstrategy = "importance"\n{scorer}', checks)
    score = pool_of(runtime).dependencies.importance
    assert await first_text(runtime, tmp_path, "important: sk-123") == "important: [key]"
    message = Text(id=MessageId("1"), timestamp="", role="user", content="important")
    assert score(message) == 5
