"""What configuration adds to every decision in a workspace: a preference, and what only makes things stricter."""

from pilothouse.domain.decisions import DirectoryMode
from pilothouse.domain.policies import Policy
from pilothouse.domain.rules import Rule
from pilothouse.domain.values import Value


class Steering(Value, kw_only=True):
    """`mode` is that of new conversations. `preference` is the person's approval policy, which a context may override;
    `policies` hold in any case. `disabled` and `waiting` name tools or categories of them; each of the
    `command_lists` must hold a command that is to run without leave."""

    mode: str | None = None
    preference: Policy = Policy()
    policies: tuple[Policy, ...] = ()
    rules: tuple[Rule, ...] = ()
    directories: tuple[DirectoryMode, ...] = ()
    disabled: frozenset[str] = frozenset()
    waiting: frozenset[str] = frozenset()
    command_lists: tuple[tuple[tuple[str, ...], ...], ...] = ()
