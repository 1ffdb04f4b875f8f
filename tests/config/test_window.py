"""The tables [window] and [overview]: the effect of each key, and refusals with the place and the allowed values."""

from pathlib import Path

import pytest

from pilothouse.app import build_runtime
from pilothouse.domain.budgets import Budget, OverviewPart, OverviewSettings
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import InvalidInput
from pilothouse.i18n import translate
from pilothouse.settings import read_settings
from pilothouse.storage.memory import MemoryStore
from tests.config.test_configuration import configured, project, trust
from tests.support.live_contexts import pool_of

WINDOW = """
[window]
token_budget = 20_000
trigger = 0.7
target = 0.25
recent = 4
strategy = "importance"
auto_compress = false
"""
OVERVIEW = """
[overview]
enabled = false
depth = 2
tokens = 900
recent = 0
parts = ["tree", "recent"]
every = 30
"""


def test_every_key_of_the_window_table_has_its_effect(tmp_path: Path) -> None:
    configuration = configured(tmp_path, WINDOW + OVERVIEW)
    assert configuration.budget == Budget(
        trigger=0.7, target=0.25, recent=4, strategy="importance", auto_compress=False
    )
    assert configuration.file.window.token_budget == 20_000
    assert configuration.overview == OverviewSettings(
        enabled=False, depth=2, tokens=900, recent=0, parts=frozenset({"tree", "recent"}), every=30
    )


@pytest.mark.parametrize("text", ["", "[window]\n[overview]\n"], ids=["no tables", "empty tables"])
def test_missing_keys_have_their_defaults(tmp_path: Path, text: str) -> None:
    configuration = configured(tmp_path, text)
    usual = Budget(tokens=128_000, trigger=0.8, target=0.5, recent=10, strategy="intelligent", auto_compress=True)
    assert configuration.budget == usual
    assert configuration.file.window.token_budget is None
    parts: frozenset[OverviewPart] = frozenset({"tree", "languages", "entry_points", "recent"})
    assert configuration.overview == OverviewSettings(
        enabled=True, depth=3, tokens=1500, recent=5, parts=parts, every=None
    )


@pytest.mark.parametrize(
    "source", [WINDOW, "", '[models."scripted.json"]\nwindow = 40_000\n'], ids=["set", "none", "model"]
)
async def test_a_runtime_uses_the_window_settings_of_the_file(tmp_path: Path, source: str) -> None:
    script = tmp_path / "scripted.json"
    script.write_text('{"turn": []}')
    (tmp_path / "config.toml").write_text(source.replace('"scripted.json"', f'"{script}"') + OVERVIEW)
    settings = read_settings(
        {"PILOTHOUSE_CONFIG": str(tmp_path / "config.toml")},
        model=f"scripted:{script}",
        data_dir=str(tmp_path / "data"),
    )
    async with build_runtime(settings, {}, store=MemoryStore()) as runtime:
        meter = await runtime.window.meter(await runtime.contexts.create(tmp_path))
        assert pool_of(runtime).dependencies.overview == settings.configuration.overview
    if source == WINDOW:
        assert (meter.budget, meter.trigger, meter.target, meter.auto_compress) == (20_000, 14_000, 5_000, False)
    else:
        assert (meter.budget, meter.auto_compress) == (40_000 if source else 128_000, True)


WRONG = [
    # [window]
    ("token_budget = 999", "token_budget", "a whole number from 1000 up to 1000000000"),
    ("token_budget = 1_000_000_001", "token_budget", "a whole number from 1000 up to 1000000000"),
    ("token_budget = 2e4", "token_budget", "a whole number from 1000"),
    ('token_budget = "many"', "token_budget", "a whole number from 1000"),
    ("trigger = 0", "trigger", "a number above 0 up to 1"),
    ("trigger = 1.1", "trigger", "a number above 0 up to 1"),
    ("trigger = -0.5", "trigger", "a number above 0 up to 1"),
    ("trigger = nan", "trigger", "a number above 0 up to 1"),
    ("trigger = inf", "trigger", "a number above 0 up to 1"),
    ("trigger = true", "trigger", "a number above 0 up to 1"),
    ("target = 0", "target", "a number above 0 up to 1"),
    ("target = 0.0", "target", "a number above 0 up to 1"),
    ("target = 2", "target", "a number above 0 up to 1"),
    ("target = nan", "target", "a number above 0 up to 1"),
    ("target = 0.8", "target", "less than 0.8"),
    ("target = 0.9", "target", "less than 0.8"),
    ("recent = 0", "recent", "a whole number from 1 up to 1000"),
    ("recent = 1001", "recent", "a whole number from 1 up to 1000"),
    ("recent = 2.5", "recent", "a whole number from 1 up to 1000"),
    ('strategy = "clever"', "strategy", "recent_n, intelligent, importance"),
    ("strategy = 1", "strategy", "recent_n, intelligent, importance"),
    ("auto_compress = 1", "auto_compress", "true, false"),
    ('auto_compress = "yes"', "auto_compress", "true, false"),
    ("token_budgett = 1", "token_budgett", "token_budget, trigger, target, recent, strategy, auto_compress"),
    # [overview]
    ("enabled = 0", "enabled", "true, false"),
    ("depth = 0", "depth", "a whole number from 1 up to 5"),
    ("depth = 6", "depth", "a whole number from 1 up to 5"),
    ('depth = "deep"', "depth", "a whole number from 1 up to 5"),
    ("tokens = 49", "tokens", "a whole number from 50 up to 20000"),
    ("tokens = 20_001", "tokens", "a whole number from 50 up to 20000"),
    ("recent = -1", "recent", "a whole number from 0 up to 50"),
    ("recent = 51", "recent", "a whole number from 0 up to 50"),
    ('parts = ["trees"]', "parts.0", "tree, languages, entry_points, recent"),
    ('parts = ["tree", 1]', "parts.1", "tree, languages, entry_points, recent"),
    ('parts = "tree"', "parts", "a list of tree, languages, entry_points, recent"),
    ("every = 0", "every", "a whole number from 1"),
    ("every = -3", "every", "a whole number from 1"),
    ("every = false", "every", "a whole number from 1"),
    ("enable = 1", "enable", "enabled, depth, tokens, recent, parts, every"),
]
_OVERVIEW_BEGINS = next(at for at, wrong in enumerate(WRONG) if wrong[1] == "enabled")


@pytest.mark.parametrize("number", range(len(WRONG)), ids=[line for line, _, _ in WRONG])
def test_a_wrong_value_is_refused_with_file_line_key_and_allowed_values(tmp_path: Path, number: int) -> None:
    line, key, allowed = WRONG[number]
    table = "overview" if number >= _OVERVIEW_BEGINS else "window"
    with pytest.raises(InvalidInput) as caught:
        configured(tmp_path, f'language = "en"\n\n[{table}]\n# here\n{line}\n')
    reason = caught.value.reason
    assert reason.code is Code.INVALID_CONFIG
    where = (str(tmp_path / "config.toml"), 5, f"{table}.{key}")
    assert (reason.params["file"], reason.params["line"], reason.params["key"]) == where
    assert reason.params["allowed"].startswith(allowed)
    for language in ("en", "zh"):
        text = translate(reason, language)
        assert all(str(part) in text for part in (*where, allowed))


@pytest.mark.parametrize("text", ["window = 3", "overview = []", "[[window]]\nrecent = 1"])
def test_a_value_instead_of_a_table_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        configured(tmp_path, text)
    params = caught.value.reason.params
    assert (params["line"], params["key"]) == (1, "overview" if "overview" in text else "window")
    assert params["allowed"].startswith("a table with ")


def test_a_target_is_measured_against_the_trigger_that_holds(tmp_path: Path) -> None:
    assert configured(tmp_path, "[window]\ntrigger = 0.95\ntarget = 0.9").budget.target == 0.9
    with pytest.raises(InvalidInput) as caught:
        configured(tmp_path, "[window]\ntrigger = 0.4")
    params = caught.value.reason.params
    assert (params["line"], params["key"], params["allowed"]) == (1, "window.target", "less than 0.4")


@pytest.mark.parametrize(
    ("text", "key"),
    [("[window]\nauto_compress = false", "window"), ("[overview]\nenabled = false", "overview"), (WINDOW, "window")],
)
def test_a_project_cannot_change_window_settings(tmp_path: Path, text: str, key: str) -> None:
    configuration = configured(tmp_path, "")
    workspace = project(tmp_path, text)
    with pytest.raises(InvalidInput) as caught:
        trust(configuration, workspace)
    params = caught.value.reason.params
    assert (params["key"], params["allowed"]) == (key, "mode, approval, directories, rules")
    assert (workspace in params["file"], str(configuration.user_file) in params["detail"]) == (True, True)
    assert (configuration.budget, configuration.overview) == (Budget(), OverviewSettings())
