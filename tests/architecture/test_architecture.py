"""The rules that keep the shape: imports point down, files stay small, time and chance come in by constructor."""

import ast
from pathlib import Path

import pytest

import pilothouse
from pilothouse.llm.providers import PROVIDERS

SOURCE = Path(pilothouse.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))

# A layer may import itself and the layers below. `window` knows the adapter's neutral messages.
LAYERS: dict[str, set[str]] = {
    "domain": set(),
    "i18n": {"domain"},
    "system": {"domain"},
    "sse": set(),
    "api": {"domain"},
    "sandbox": {"domain", "system"},
    "llm": {"domain", "i18n", "sse"},
    "storage": {"domain", "i18n", "system"},
    "window": {"domain", "i18n", "llm"},
    "tools": {"domain", "i18n", "system", "sandbox"},
    "runtime": {"domain", "i18n", "system", "window", "llm", "tools", "sandbox", "storage"},
    "terminal": {"domain", "i18n", "system", "sandbox", "window", "runtime"},
    "session": {"domain", "i18n", "runtime"},
    "server": {"domain", "i18n", "system", "sse", "runtime", "session", "api"},
    "client": {"domain", "system", "sse", "api"},
    "config": {"domain", "system", "llm"},
    "settings": {"domain", "system", "config", "llm"},
    "testing": {
        *("domain", "system", "sse", "window", "llm", "tools", "sandbox", "storage", "runtime"),
        *("session", "server", "client", "api"),
    },
    "tracing": {"domain", "system"},
    "provider": {"domain", "config", "llm", "runtime", "settings"},
    "app": {
        *("domain", "system", "config", "llm", "sandbox", "tools", "storage", "runtime", "settings", "provider"),
        "tracing",
    },
    "cli": set(),  # every command may use every part
    "__main__": {"cli"},
}
# Length is a smell, not a law: the bounds leave room, so that no file is split only to fit.
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 80
AMBIENT = {"time", "random", "uuid", "secrets", "datetime"}


def layer_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    modules = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: a relative import"
            modules.add(node.module)
        elif isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
    return modules


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down_only(path: Path) -> None:
    layer = layer_of(path)
    if layer in ("__init__", "cli"):
        return
    for module in imports_of(path):
        parts = module.split(".")
        if parts[0] == "pilothouse" and len(parts) > 1:
            assert parts[1] in {layer, *LAYERS[layer]}, f"{layer} must not import {module}"


def test_the_domain_does_no_io_and_asks_the_system_for_nothing() -> None:
    forbidden = {"os", "pathlib", "asyncio", "socket", "subprocess", "sys", "logging", *AMBIENT}
    for path in (SOURCE / "domain").rglob("*.py"):
        assert imports_of(path).isdisjoint(forbidden), path


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_time_chance_and_ids_come_in_by_constructor(path: Path) -> None:
    # The unguessable name of a temporary file is not part of any history.
    allowed = {"system/ambient.py", "system/atomic_file.py"}
    if str(path.relative_to(SOURCE)) not in allowed:
        assert imports_of(path).isdisjoint(AMBIENT)


# The person chooses who may read these files: an export, and a script for tests.
MADE_FOR_OTHERS = {"terminal/conversation_commands.py", "testing"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_runtime_writes_only_private_files_and_folders(path: Path) -> None:
    """`mkdir(parents=True)` and `write_bytes` create files that everybody may read: `private_file` has helpers."""
    name = str(path.relative_to(SOURCE))
    if name in MADE_FOR_OTHERS or name.split("/")[0] in MADE_FOR_OTHERS:
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            assert node.func.attr not in ("write_bytes", "write_text", "makedirs", "touch"), f"line {node.lineno}"
            for keyword in node.keywords:
                assert (node.func.attr, keyword.arg) != ("mkdir", "parents"), f"line {node.lineno}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_and_functions_stay_readable(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= MAX_FILE_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < MAX_FUNCTION_LINES, f"{node.name} is too long"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_says_what_it_owns(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


def test_only_a_commit_changes_what_a_context_holds_in_memory() -> None:
    stored = {"core", "state", "calls", "branches", "version"}
    assigned = [
        f"{path.relative_to(SOURCE)}:{node.lineno} {ast.unparse(node)}"
        for path in sorted((SOURCE / "runtime").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr in stored
        if ast.unparse(node.value) not in ("self", "draft")
    ]
    assert assigned == []


@pytest.mark.parametrize("layer", ["domain", "window", "runtime"])
def test_the_core_names_no_provider(layer: str) -> None:
    """Another provider is a module and an entry of the registry: nothing in the core changes."""
    for path in sorted((SOURCE / layer).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert node.value.partition(":")[0] not in PROVIDERS, f"{path.name}:{node.lineno} {node.value!r}"


def test_only_the_registry_builds_the_adapters_of_settings() -> None:
    adapters = {"pilothouse.llm.openai", "pilothouse.llm.demo", "pilothouse.llm.scripted"}
    importers = {str(path.relative_to(SOURCE)) for path in FILES if imports_of(path) & adapters}
    assert {name for name in importers if not name.startswith("testing/")} == {"llm/providers.py"}


def test_the_driver_fits_on_a_screen() -> None:
    assert len((SOURCE / "runtime" / "turn" / "driver.py").read_text().splitlines()) <= 90
