"""The two files: the person's own and a folder's. A folder's is read once, and can only make things stricter."""

from collections.abc import Mapping
from pathlib import Path

from pilothouse.config import meaning
from pilothouse.config.reading import Document, read_document
from pilothouse.config.schema import ProjectFile, UserFile
from pilothouse.domain.modes import Modes
from pilothouse.domain.personas import Persona
from pilothouse.domain.prices import Price
from pilothouse.domain.steering import Steering

PROJECT_FILE = Path(".pilothouse") / "config.toml"


class Configuration:
    """What the files say. `user_file` is where the person's own is, or would be."""

    def __init__(self, user_file: Path) -> None:
        """Raises: InvalidInput, naming file, line, key and what is allowed."""
        self.user_file = user_file
        self._document = read_document(user_file) or Document(user_file, "")
        self.file = self._document.checked(self._document.data, UserFile)
        self.modes: Modes = meaning.modes_of(self._document, self.file)
        self.personas: Mapping[str, Persona] = meaning.personas_of(self._document, self.file)
        self.prices: Mapping[str, Price] = meaning.prices_of(self._document, self.file)
        meaning.check_server(self._document, self.file, self.modes)
        self._steering: dict[str | None, Steering] = {}
        self.steering(None)

    def steering(self, workspace: str | None) -> Steering:
        """What holds in a workspace. A folder's file is read once: what happens to it later changes nothing.

        Raises: InvalidInput.
        """
        known = self._steering.get(workspace)
        if known is None:
            known = meaning.user_steering(self._document, self.file, self.modes, workspace)
            if workspace is not None:
                known = self._with_project(known, workspace)
            self._steering[workspace] = known
        return known

    def _with_project(self, user: Steering, workspace: str) -> Steering:
        document = read_document(Path(workspace) / PROJECT_FILE)
        if document is None:
            return user
        forbidden = [name for name in document.data if name in _ONLY_ONES_OWN]
        if forbidden:
            allowed = ", ".join(ProjectFile.__struct_fields__)
            document.fail((forbidden[0],), f"A project may not set it; it belongs in {self.user_file}.", allowed)
        return meaning.with_project(user, document, document.checked(document.data, ProjectFile), self.modes, workspace)


_ONLY_ONES_OWN = frozenset(UserFile.__struct_fields__) - frozenset(ProjectFile.__struct_fields__)
