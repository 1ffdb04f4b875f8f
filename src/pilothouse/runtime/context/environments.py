"""`ConversationEnvironments`: the environments that clients have given to their conversations, in memory only."""

from collections.abc import Mapping

from pilothouse.domain.value import ContextId
from pilothouse.sandbox.command_environment import CommandEnvironment

MAX_ENVIRONMENTS = 500


class ConversationEnvironments:
    """The environments of commands, by the outermost context of a conversation."""

    def __init__(self, default: CommandEnvironment) -> None:
        """`default` is the environment of every other conversation."""
        self.default = default
        self._environments: dict[ContextId, CommandEnvironment] = {}
        """The most recently used is the last."""

    def of(self, conversation: ContextId) -> CommandEnvironment:
        """The environment that applies now."""
        environment = self._environments.pop(conversation, None)
        if environment is None:
            return self.default
        self._environments[conversation] = environment
        return environment

    def use(self, conversation: ContextId, variables: Mapping[str, str]) -> None:
        """Raises: InvalidInput."""
        environment = self.default.with_client(variables)
        self.forget(conversation)
        self._environments[conversation] = environment
        if len(self._environments) > MAX_ENVIRONMENTS:
            del self._environments[next(iter(self._environments))]

    def forget(self, conversation: ContextId) -> None:
        self._environments.pop(conversation, None)
