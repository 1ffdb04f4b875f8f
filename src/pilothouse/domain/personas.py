"""Personas: who the model is asked to be. Here only what the gate must know of them: their tools."""

from pilothouse.domain.values import Value


class ToolPolicy(Value):
    """What is denied wins. Where anything is allowed by name or category, the rest is not."""

    allowed: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()
    allowed_categories: frozenset[str] = frozenset()
    denied_categories: frozenset[str] = frozenset()

    def permits(self, tool: str, category: str) -> bool:
        if tool in self.denied or category in self.denied_categories:
            return False
        is_open = not self.allowed and not self.allowed_categories
        return is_open or tool in self.allowed or category in self.allowed_categories


class Persona(Value):
    name: str
    tools: ToolPolicy = ToolPolicy()
