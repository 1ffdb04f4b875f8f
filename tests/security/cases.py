"""The cases of tests/data/security_cases.jsonl, as far as the classifier of shell commands answers for them."""

import json
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).parent.parent / "data" / "security_cases.jsonl"


@dataclass(frozen=True)
class Case:
    id: str
    kind: str
    text: str
    mode: str
    expect: str

    @property
    def command(self) -> str:
        """The line without the remark in brackets that says what is around it."""
        return self.text.split("   [")[0]


def read_cases() -> tuple[Case, ...]:
    rows = [json.loads(line) for line in FILE.read_text().splitlines()]
    return tuple(Case(row["id"], row["class"], row["input"], row["mode"], row["expect"]) for row in rows)


CASES = read_cases()
SHELL = tuple(case for case in CASES if case.kind.startswith("shell/"))
BOUNDARY = tuple(case for case in CASES if case.kind == "whitelist/boundary")
AMBIENT = tuple(case for case in CASES if case.kind == "ambient/config")
CONTROL = tuple(case for case in CASES if case.kind == "control/benign")
