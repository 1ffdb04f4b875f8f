"""Configuration: the keys of the files, their effects, and errors that name file, line, key and allowed values."""

import os
from pathlib import Path

import pytest

from pilothouse.config.configuration import Configuration
from pilothouse.config.toml_document import MAX_FILE_BYTES
from pilothouse.config.trust import Trust
from pilothouse.domain.codes import Code
from pilothouse.domain.decisions import CallFacts, PolicySnapshot, decide
from pilothouse.domain.errors import InvalidInput
from pilothouse.domain.modes import Modes, Verdict, is_looser
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Origin, Rule, RuleId, Scope
from pilothouse.llm.model_catalog import ModelFacts
from pilothouse.llm.prices import Price
from pilothouse.llm.providers import PROVIDERS, Provider
from pilothouse.settings import read_settings

EVERYTHING = """
model = "demo"
mode = "docs"
language = "zh"
data_dir = "~/somewhere"
title_model = "demo"

[limits]
rounds = 7
turn_cost = 1.5

[approval]
policy = "limited_auto"
depth = 3
always_ask = ["delete"]

[directories]
"deploy" = "plan"
"/etc" = "ask"

[[rules]]
effect = "deny"
tool = "execute"

[[rules]]
effect = "allow"
tool = "read_file"
folder = "docs"

[modes.docs]
base = "agent"
icon = "D"
meaning = "Edits the documentation only."
only_beneath = ["docs"]
withholds = ["execute"]
aliases = ["d"]

[models."gpt-4.1"]
window = 200_000
input = 3
output = 9.0

[models."house/llama-3.1-8b"]
vision = true
tokenizer = "cl100k"
"""


def configured(tmp_path: Path, text: str) -> Configuration:
    path = tmp_path / "config.toml"
    path.write_text(text)
    (tmp_path / "tools.toml").write_text("[tools.edit_file]\nenabled = false\n")
    configuration = Configuration(path)
    configuration.trust_store = Trust(tmp_path / "data/trust.json", lambda: "2026-01-01T00:00:00Z")
    return configuration


def trust(configuration: Configuration, workspace: str) -> None:
    configuration.trust(workspace, configuration.status(workspace).digest)


def project(tmp_path: Path, text: str, tools: str = "") -> str:
    folder = tmp_path / "project"
    (folder / ".pilothouse").mkdir(parents=True, exist_ok=True)
    (folder / ".pilothouse/config.toml").write_text(text)
    (folder / ".pilothouse/tools.toml").write_text(tools)
    return str(folder)


def test_every_key_of_the_configuration_has_its_effect(tmp_path: Path) -> None:
    configuration = configured(tmp_path, EVERYTHING)
    steering = configuration.workspace_policy("/etc/thing")
    mode = configuration.modes.named("d")
    assert (mode.name, mode.only_beneath, mode.mutating) == ("docs", ("docs",), Verdict.ALLOW)
    assert mode.withholds == frozenset({"execute"})
    assert steering.mode == "docs"
    assert steering.preference == Policy(kind="limited_auto", depth=3, always_ask=frozenset({"delete"}))
    assert [(each.folder, each.mode.name) for each in steering.folder_modes] == [("deploy", "plan"), (".", "ask")]
    assert [(rule.effect, rule.scope.tool) for rule in steering.rules] == [("deny", "execute"), ("allow", "read_file")]
    assert steering.rules[0].origin.file == f"{tmp_path / 'config.toml'}, line 21"
    assert steering.disabled == frozenset({"edit_file"})
    own = configuration.model_catalog.facts("gpt-4.1")
    assert own == ModelFacts(window=200_000, vision=True, tokenizer="o200k", price=Price(input=3, output=9))
    own = configuration.model_catalog.facts("house/llama-3.1-8b")
    assert own == ModelFacts(window=128_000, vision=True, tokenizer="cl100k"), "what is left out is what is known"
    assert configuration.file.limits.rounds == 7


def test_a_person_lists_the_variables_of_commands(tmp_path: Path) -> None:
    names = ["SSH_AUTH_SOCK", "VIRTUAL_ENV", "PATH", "LC_ALL", "VIRTUAL_ENV", *(f"A{number}" for number in range(46))]
    configuration = configured(tmp_path, f"[commands]\nenvironment = {names}")
    assert configuration.command_variables == tuple(dict.fromkeys(names))
    assert configured(tmp_path, "[commands]").command_variables == ()


@pytest.mark.parametrize("provider", [each for each in PROVIDERS.values() if each.server is not None])
def test_no_key_of_any_provider_can_be_listed_for_commands(tmp_path: Path, provider: Provider) -> None:
    assert provider.server is not None
    with pytest.raises(InvalidInput, match="API key of a provider, which commands never get"):
        configured(tmp_path, f"[commands]\nenvironment = ['{provider.server.key_variable}']")


def test_without_a_file_there_are_defaults(tmp_path: Path) -> None:
    configuration = Configuration(tmp_path / "nothing.toml")
    assert list(configuration.modes.all) == ["agent", "supervised", "review", "plan", "ask"]
    assert configuration.workspace_policy(str(tmp_path)).rules == ()


WRONG = [
    ("mode = 3", 1, "mode", "text"),
    ('mode = "x"', 1, "mode", "agent, supervised"),
    ("\n\nmodel = true", 3, "model", "text"),
    ('aproval = "manual"', 1, "aproval", "mode, approval, directories"),
    ('[approval]\npolicy = "manual"\nescalate = true', 3, "approval.escalate", "policy, tools"),
    ('[modes.mine]\ncolour = "red"', 2, "modes.mine.colour", "base, title"),
    ("[limits]\nrounds = 0", 2, "limits.rounds", "from 1"),
    ("[limits]\nrounds = 'many'", 2, "limits.rounds", "a whole number"),
    ("[limits]\nrunds = 1", 2, "limits.runds", "rounds, call_seconds"),
    ('[approval]\npolicy = "x"', 2, "approval.policy", "auto_approve, manual, white_list, limited_auto"),
    ('[approval]\nalways_ask = ["x"]', 2, "approval.always_ask.0", "delete, overwrite, network, privilege"),
    ('[directories]\n"a b" = "x"', 2, "directories.a b", "agent, supervised"),
    ('[directories]\n"../x" = "plan"', 2, "directories.../x", "a folder"),
    ("[directories]\ndocs = 3", 2, "directories.docs", "agent"),
    ('[[rules]]\ntool = "x"', 1, "rules.0.effect", "effect, tool, folder"),
    ('[[rules]]\neffect = "deny"\n[[rules]]\neffect = "maybe"', 4, "rules.1.effect", "allow, ask, deny"),
    ('[[rules]]\neffect = "deny"\nfolder = "/etc"', 1, "rules.0", "in the workspace"),
    ('[modes.agent]\nicon = "x"', 1, "modes.agent", "an unused name"),
    ('[modes.mine]\naliases = ["build"]', 1, "modes.mine", "an unused name"),
    ('[modes.mine]\nbase = "x"', 2, "modes.mine.base", "agent, supervised"),
    ('[modes.mine]\nmutating = "maybe"', 2, "modes.mine.mutating", "allow, ask, deny"),
    ('[modes.mine]\ndenial_hint = "x"', 2, "modes.mine.denial_hint", "agent"),
    ('[modes."a b"]\nicon = "x"', 1, "modes.a b", "letters"),
    ("[modes]\nmine = 3", 2, "modes.mine", "a table"),
    ('[personas.x]\nallowed = ["execute"]', 1, "personas", "in personas/ID.toml"),
    ("[tools.execute]\nenabled = false", 1, "tools", "in tools.toml"),
    ('[models."a.b"]\ninput = -1\noutput = 1', 2, "models.a.b.input", "a number from 0"),
    ('[models."a.b"]\ninput = inf\noutput = 1', 2, "models.a.b.input", "up to 1000000"),
    ('[models."a.b"]\ninput = nan\noutput = 1', 2, "models.a.b.input", "a number from 0"),
    ('[models."a.b"]\ninput = 1', 1, "models.a.b.output", "input and output, or neither"),
    ('[models."a.b"]\noutput = 1', 1, "models.a.b.input", "input and output, or neither"),
    ('[models."a.b"]\nwindow = 0', 2, "models.a.b.window", "a whole number from 1"),
    ('[models."a.b"]\nwindow = 1e5', 2, "models.a.b.window", "a whole number from 1"),
    ('[models."a.b"]\nvision = 1', 2, "models.a.b.vision", "true, false"),
    ('[models."a.b"]\ntokenizer = "gpt"', 2, "models.a.b.tokenizer", "o200k, cl100k, estimate"),
    ('[models."a.b"]\nwindows = 1', 2, "models.a.b.windows", "window, vision, tokenizer, input, output"),
    ("[models]\na = 1", 2, "models.a", "a table"),
    ('moddel = """\n[modes.x]\n"""\n[limits]\nx = 1', 1, "moddel", "mode"),
    ('rools = 1\n[modes.mine]\nprompt = """\nrounds = 1\n"""\n[limits]\nrounds = 0', 1, "rools", "mode"),
    ('[modes.mine]\nprompt = """\n[limits]\n"""\n[limits]\nrounds = 0', 6, "limits.rounds", "from 1"),
    ('# """\n[limits]\nrounds = 0', 3, "limits.rounds", "from 1"),
    ('[directories]\n"a\\"b" = "x"', 2, 'directories.a"b', "agent"),
    ('[[rules]]\neffect = "deny"\n[[rules]]\neffect = "deny"\n[rules.x]\n', 5, "rules.1.x", "effect"),
    ('[modes.mine]\naliases = ["AGENT"]', 1, "modes.mine", "an unused name"),
    ('[modes.mine]\naliases = ["a b"]', 1, "modes.mine", "letters"),
    ('[modes.mine]\nicon = "a\\nb"', 2, "modes.mine.icon", "one line"),
    ('[[rules]]\neffect = "deny"\nworkspace = "here"', 3, "rules.0.workspace", "an absolute path"),
    ('[commands]\nenvironment = "X"', 2, "commands.environment", "a list of text"),
    ("[commands]\nenvironment = [1]", 2, "commands.environment.0", "text"),
    ('[commands]\nenvironment = ["AWS_*"]', 2, "commands.environment", "each written in full"),
    ('[commands]\nenvironment = ["X", ""]', 2, "commands.environment", "each written in full"),
    ('[commands]\nenvironment = ["X", "OPENAI_API_KEY"]', 2, "commands.environment", "other variables"),
    ('[commands]\nenvironment = ["PILOTHOUSE_TOKEN"]', 2, "commands.environment", "other variables"),
    ('[commands]\nenvironment = ["TERM"]', 2, "commands.environment", "other variables"),
    ('[commands]\nenvironment = ["BASH_ENV"]', 2, "commands.environment", "other variables"),
    (f"[commands]\nenvironment = {[f'A{number}' for number in range(51)]}", 2, "commands.environment", "up to 50"),
    ("[commands]\nenviroment = []", 2, "commands.enviroment", "environment"),
    ("[limits]\nrounds = " + "9" * 5000, 2, "-", "TOML"),
    ("[a", 1, "-", "TOML"),
    ("a = 1\na = 2", 2, "-", "TOML"),
]


@pytest.mark.parametrize(("text", "line", "key", "allowed"), WRONG)
def test_an_error_names_file_line_key_and_what_is_allowed(
    tmp_path: Path, text: str, line: int, key: str, allowed: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        configured(tmp_path, text)
    params = caught.value.reason.params
    assert caught.value.reason.code is Code.INVALID_CONFIG
    assert (params["file"], params["line"], params["key"]) == (str(tmp_path / "config.toml"), line, key)
    assert allowed in params["allowed"]


def test_a_binary_irregular_or_endless_configuration_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"mode = '\xff'")
    with pytest.raises(InvalidInput, match="isn't UTF-8"):
        Configuration(path)
    path.write_bytes(b"#" * (MAX_FILE_BYTES + 1))
    with pytest.raises(InvalidInput, match="larger than"):
        Configuration(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(InvalidInput, match="not a regular file"):
        Configuration(path)
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(InvalidInput, match="not a regular file"):
        Configuration(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(InvalidInput, match="not a regular file"):
        Configuration(path)


def test_a_file_with_very_many_rules_is_refused_and_not_worked_through(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="up to 1000"):
        configured(tmp_path, '[[rules]]\neffect = "ask"\n' * 9000)


def test_a_file_may_begin_with_a_mark_of_its_byte_order(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"\xef\xbb\xbfmode = 'ask'")
    assert Configuration(tmp_path / "config.toml").workspace_policy(None).mode == "ask"


def test_folder_settings_apply_through_links(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    (workspace / "real").mkdir(parents=True)
    (workspace / "deploy").symlink_to("real")
    (tmp_path / "link").symlink_to(workspace)
    configuration = configured(
        tmp_path,
        f'[directories]\n"deploy" = "plan"\n"{tmp_path}/link" = "ask"\n'
        f'[[rules]]\neffect = "deny"\nfolder = "deploy"\nworkspace = "{workspace}/"\n',
    )
    steering = configuration.workspace_policy(str(workspace))
    assert {(each.folder, each.mode.name) for each in steering.folder_modes} == {
        *(("deploy", "plan"), ("real", "plan"), (".", "ask")),
    }
    assert (steering.rules[0].scope.folder, steering.rules[0].scope.workspace) == ("real", str(workspace))


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ("allow", Verdict.ALLOW),
        ("ask", Verdict.ASK),
        ("deny", Verdict.DENY),
        ("run", Verdict.ALLOW),
        ("wait", Verdict.ASK),
    ],
)
def test_the_verdicts_of_a_mode_are_allow_ask_and_deny_or_the_words_of_earlier_versions(
    tmp_path: Path, word: str, verdict: Verdict
) -> None:
    mode = configured(tmp_path, f'[modes.mine]\nread_only = "{word}"\nmutating = "{word}"').modes.named("mine")
    assert (mode.read_only, mode.mutating) == (verdict, verdict)


def test_a_mode_that_is_not_looser_allows_nothing_more_under_any_rules() -> None:
    allow = Rule(id=RuleId("1"), effect="allow", scope=Scope(), origin=Origin(by="me"))
    modes = Modes()
    for mode in modes.all.values():
        for other in modes.all.values():
            if is_looser(mode, other):
                continue
            for effect in ("read_only", "mutating"):
                for tool in ("execute", "write_file"):
                    facts = CallFacts(tool=tool, effect=effect, digest="d", touches=("a",))
                    stricter = decide(facts, PolicySnapshot(mode=mode, rules=(allow,))).verdict
                    assert stricter >= decide(facts, PolicySnapshot(mode=other, rules=(allow,))).verdict, (
                        mode.name,
                        other.name,
                    )


def test_a_project_adds_strictness(tmp_path: Path) -> None:
    configuration = configured(
        tmp_path, 'mode = "supervised"\n[approval]\npolicy = "white_list"\ntools = ["read_file"]'
    )
    workspace = project(
        tmp_path,
        'mode = "ask"\n[approval]\npolicy = "manual"\n[directories]\ndeploy = "plan"\n'
        '[[rules]]\neffect = "ask"\ntool = "execute"',
        "[tools.delegate]\nenabled = false",
    )
    assert configuration.workspace_policy(workspace).mode == "supervised", "nothing of it counts before it is trusted"
    trust(configuration, workspace)
    steering = configuration.workspace_policy(workspace)
    assert steering.mode == "ask"
    assert steering.preference.kind == "white_list", "the person's own stays"
    assert [policy.kind for policy in steering.policies] == ["manual"], "and the project's holds beside it"
    assert [each.folder for each in steering.folder_modes] == ["deploy"]
    assert steering.disabled == frozenset({"edit_file", "delegate"})


FORBIDDEN = [
    ('model = "openai:x"', "model"),
    ('title_model = "openai:x"', "title_model"),
    ('data_dir = "/tmp"', "data_dir"),
    ("[limits]\nrounds = 1000", "limits"),
    ('[commands]\nenvironment = ["SSH_AUTH_SOCK"]', "commands"),
    ("[commands]", "commands"),
    ('[modes.agent2]\nbase = "agent"', "modes"),
    ('[models."x"]\ninput = 0\noutput = 0', "models"),
    ('language = "zh"', "language"),
    ('[[rules]]\neffect = "allow"', "rules.0.effect"),
    ('[[rules]]\neffect = "deny"\nworkspace = "/elsewhere"', "rules.0.workspace"),
    ('mode = "agent"', "mode"),
    ('mode = "review"', "mode"),
    ('mode = "plan"', "mode"),
]


@pytest.mark.parametrize(("text", "key"), FORBIDDEN)
def test_a_project_can_neither_loosen_the_settings_nor_act_for_the_person(tmp_path: Path, text: str, key: str) -> None:
    configuration = configured(tmp_path, 'mode = "supervised"')
    workspace = project(tmp_path, text)
    with pytest.raises(InvalidInput) as caught:
        trust(configuration, workspace)
    assert caught.value.reason.params["key"] == key
    assert workspace in caught.value.reason.params["file"]
    assert configuration.status(workspace).status == "new"


def test_a_trusted_configuration_holds_until_the_person_trusts_another(tmp_path: Path) -> None:
    configuration = configured(tmp_path, "")
    workspace = project(tmp_path, '[directories]\ndeploy = "plan"')
    trust(configuration, workspace)
    before = configuration.workspace_policy(workspace)
    project(tmp_path, "")
    assert configuration.status(workspace).status == "changed"
    assert configuration.workspace_policy(workspace) == before, (
        "who can write it must not be able to take it away meanwhile"
    )
    again = configured(tmp_path, "")
    assert again.workspace_policy(workspace) == before, "nor by a restart"
    trust(again, workspace)
    assert again.workspace_policy(workspace).folder_modes == ()


def test_the_command_line_goes_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('model = "scripted:file"\ndata_dir = "/file"\nmode = "ask"')
    plain = {"PILOTHOUSE_CONFIG": str(path), "LANG": "C"}
    both = {**plain, "PILOTHOUSE_MODEL": "scripted:env", "PILOTHOUSE_DATA_DIR": "/env", "PILOTHOUSE_MODE": "plan"}
    assert read_settings(plain).model.name == "file"
    assert read_settings(plain).data_dir == Path("/file")
    assert read_settings(plain).mode is None, "the files' mode may differ by folder"
    assert read_settings(both).model.name == "env"
    assert read_settings(both).data_dir == Path("/env")
    assert read_settings(both).mode == "plan"
    line = read_settings(both, model="scripted:line", mode="review", data_dir="/line")
    assert (line.model.name, line.mode, line.data_dir) == ("line", "review", Path("/line"))
