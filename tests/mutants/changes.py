"""The small changes that can be made to a module, each as one replacement in its text."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}


class Mutant(NamedTuple):
    """A module's text with one change."""

    line: int
    change: str
    """What was replaced and by what, for people."""
    text: str


def mutants_of(text: str) -> Iterator[Mutant]:
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    data = text.encode()

    def span(node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.expr | ast.stmt):
            for replacement in _replacements(node):
                begin, end = span(node)
                mutated = (data[:begin] + replacement.encode() + data[end:]).decode()
                before = data[begin:end].decode()
                yield Mutant(node.lineno, f"{_short(before)}  →  {_short(replacement)}", mutated)


def _short(text: str) -> str:
    return " ".join(text.split())[:90]


def _replacements(node: ast.expr | ast.stmt) -> Iterator[str]:
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in _COMPARISONS:
            yield f"({ast.unparse(left)}) {_COMPARISONS[type(operator)]} ({ast.unparse(right)})"
        case ast.BoolOp(op=operator, values=values):
            other = " or " if isinstance(operator, ast.And) else " and "
            yield "(" + other.join(f"({ast.unparse(value)})" for value in values) + ")"
            for left_out in range(len(values)):
                joined = " or " if isinstance(operator, ast.Or) else " and "
                rest = [f"({ast.unparse(value)})" for number, value in enumerate(values) if number != left_out]
                yield "(" + joined.join(rest) + ")"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield f"bool({ast.unparse(operand)})"
        case ast.Constant(value=bool() as value):
            yield str(not value)
        case ast.Constant(value=int() as value):
            yield str(value + 1)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right) if not isinstance(right, ast.Constant):
            yield f"({ast.unparse(left)})"
        case ast.Raise() | ast.Continue() | ast.Expr(value=ast.Call() | ast.Await()):
            yield "pass"
