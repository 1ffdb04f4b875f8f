"""The rules of wording: names that a newcomer knows, and comments with a subject. See CONTRIBUTING.md."""

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_architecture import FILES, SOURCE

# Nouns of the field that end like a verb. A module is named after the thing it holds.
NOUNS_IN_ING = {"encoding", "mapping", "padding", "routing", "sampling", "spelling", "steering", "tracing"}
MODULES = {
    "announcing": "commit_signals",
    "asking": "elicitation or requests",
    "beneath": "openat",
    "catalogue": "contexts or catalog",
    "compressing": "compression/branch",
    "counts": "metrics",
    "deciding": "authorization",
    "documents": "api_docs or user_documents",
    "doubts": "parser_limits",
    "failing": "finish",
    "finding": "file_index or files",
    "finishing": "shield",
    "flights": "pending_requests",
    "folders": "workspaces",
    "following": "turn_events",
    "hosting": "serve",
    "importing": "context_import",
    "judging": "classify",
    "keeper": "supervisor",
    "keeping": "conversation_commands",
    "kinds": "file_types",
    "knowledge": "command_table",
    "levels": "effects",
    "live": "live_context",
    "looking": "call_inspection",
    "looking_ahead": "preview",
    "meaning": "interpret",
    "opening": "user_input",
    "parts": "dependencies",
    "placing": "atomic_write",
    "printing": "turn",
    "reading": "toml_document or arguments",
    "refusals": "error_mapping",
    "rounds": "request/builder",
    "rulebook": "user_rules",
    "serving": "state",
    "shapes": "views",
    "showing": "event_lines",
    "squeezing": "truncation",
    "standing": "policy_snapshot",
    "summarising": "summarizer",
    "survey": "file_stats",
    "telling": "model_messages or chat_events",
    "things": "catalog",
    "toolbox": "tools",
    "toolkeeping": "mcp",
    "transfer": "context_export",
    "unattended": "headless_turn",
    "walking": "walk",
    "whole": "collect",
    "utils": "a noun",
    "helpers": "a noun",
    "misc": "a noun",
}
# A variable is named after what it is: `record`, `plan`, `match`.
LOCALS = {
    *("found", "known", "kept", "given", "told", "made", "said", "heard", "brought"),
    *("rung", "serving", "who"),
}
# A docstring names its subject: "The predicted effect of a call.", not "What a call would do."
SUBJECTS = re.compile(r"(What|It|That|One|They|Those|Whoever|Who|Where)\b(?!:)")
DOCS = SOURCE.parent.parent / "docs"
WITH_DOCS = [*FILES, *sorted(DOCS.glob("*.py"))]
# A trailing comment begins with a lower-case letter. "Meanwhile" says neither when nor during what.
COMMENT_SUBJECTS = re.compile(rf"{SUBJECTS.pattern}|.*\bmeanwhile\b", re.IGNORECASE)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_is_named_after_what_it_holds(path: Path) -> None:
    name = path.stem
    assert name not in MODULES, f"name it {MODULES[name]}"
    assert not name.endswith("ing") or name.split("_")[-1] in NOUNS_IN_ING, "name it after what it holds"


@pytest.mark.parametrize("path", WITH_DOCS, ids=lambda path: path.name)
def test_a_variable_is_named_after_what_it_is(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        name = node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else None
        name = node.arg if isinstance(node, ast.arg) else name
        assert name not in LOCALS, f"line {getattr(node, 'lineno', 0)}: name `{name}` after what it is"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_docstring_names_its_subject(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            assert not SUBJECTS.match(docstring or ""), docstring


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_limit_says_what_it_limits(path: Path) -> None:
    for node in ast.parse(path.read_text()).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Name):
                assert not target.id.endswith("_AT_MOST"), f"name {target.id} MAX_… with its unit"
            elif isinstance(target, ast.Tuple):
                names = [name.id for name in target.elts if isinstance(name, ast.Name)]
                assert not all(name.isupper() for name in names), f"give {names} a line each"


@pytest.mark.parametrize("path", WITH_DOCS, ids=lambda path: path.name)
def test_a_comment_names_its_subject(path: Path) -> None:
    with tokenize.open(path) as file:
        comments = [token for token in tokenize.generate_tokens(file.readline) if token.type == tokenize.COMMENT]
    for comment, previous in zip(comments, [None, *comments], strict=False):
        if previous is not None and _continues(comment, previous):
            continue
        text = comment.string.lstrip("# ")
        assert not COMMENT_SUBJECTS.match(text), f"line {comment.start[0]}: {text}"


def _continues(comment: tokenize.TokenInfo, previous: tokenize.TokenInfo) -> bool:
    """Whether a comment is a further line of the same comment."""
    return comment.start[0] == previous.start[0] + 1 and comment.start[1] == previous.start[1]


@pytest.mark.parametrize("path", WITH_DOCS, ids=lambda path: path.name)
def test_the_docstring_of_a_field_names_its_subject(path: Path) -> None:
    for text in _bare_strings(ast.parse(path.read_text())):
        assert not SUBJECTS.match(text), text
        assert "meanwhile" not in text, text


def _bare_strings(tree: ast.Module) -> Iterator[str]:
    """Yield all docstrings: those of modules, classes and functions, and those below fields and constants."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text
