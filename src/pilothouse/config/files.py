"""The files: the person's own, and a folder's. A folder's count once it is trusted, and only make things stricter."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pilothouse.config import meaning
from pilothouse.config.personas import PERSONAS, check_tools, persona_names, persona_of
from pilothouse.config.reading import Document, read_document, read_text
from pilothouse.config.schema import ProjectFile, RootTable, UserFile
from pilothouse.config.tools import ToolSettings, check_named_tools, check_tool_names, tool_settings, with_tools
from pilothouse.config.trust import CONFIG, FOLDER, SERVERS, TOOLS, Trust
from pilothouse.domain.budgets import Budget, OverviewSettings
from pilothouse.domain.codes import Reason
from pilothouse.domain.models import Catalogue
from pilothouse.domain.modes import Modes
from pilothouse.domain.personas import Personas
from pilothouse.domain.steering import Steering
from pilothouse.domain.trust import FolderTrust


class _Holding(NamedTuple):
    """What holds in a workspace, the texts of its own that it was made of, and the files that these are."""

    texts: Mapping[str, str]
    steering: Steering
    personas: Personas
    documents: Mapping[str, Document]


class Configuration:
    """What the files say. `user_file` is where the person's own is, or would be; others of theirs lie beside it."""

    def __init__(self, user_file: Path) -> None:
        """Raises: InvalidInput, naming file, line, key and what is allowed."""
        self.user_file = user_file
        self.trusted: Trust | None = None
        self.read_servers: Callable[[str, str], Sequence[Reason]] = lambda _text, _file: ()
        self._document = read_document(user_file) or Document(user_file, "")
        self.file = self._document.checked(self._document.data, UserFile)
        self.modes: Modes = meaning.modes_of(self._document, self.file)
        self.catalogue: Catalogue = meaning.catalogue_of(self._document, self.file)
        self.budget: Budget = meaning.budget_of(self._document, self.file)
        self.overview: OverviewSettings = meaning.overview_of(self.file)
        self.roots: list[RootTable] = meaning.roots_of(self._document, self.file)
        self.user_roots: dict[str, list[str]] = meaning.user_roots_of(self._document, self.file)
        meaning.check_server(self._document, self.file, self.modes)
        self._tools = read_document(user_file.parent / TOOLS)
        self.tools = tool_settings(self._tools) if self._tools is not None else ToolSettings()
        self._known_tools: Collection[str] | None = None
        self._known_categories: Collection[str] = ()
        beside = (read_document(user_file.parent / name) for name in persona_names(user_file.parent))
        read = [document for document in beside if document is not None]
        self._own_personas = [(document, persona_of(document, self.modes, "user")) for document in read]
        self._holding: dict[str | None, _Holding] = {}
        self.steering(None)

    @property
    def own_files(self) -> tuple[Path, ...]:
        """The person's own file and what counts beside it, whether it is there or not."""
        return (self.user_file, *(self.user_file.parent / name for name in (TOOLS, SERVERS, PERSONAS)))

    @property
    def servers_file(self) -> Path:
        return self.user_file.parent / SERVERS

    def steering(self, workspace: str | None) -> Steering:
        """What holds in a workspace: of a folder's own files, what was trusted. Raises: InvalidInput."""
        return self._held(workspace).steering

    def personas(self, workspace: str | None) -> Personas:
        """The person's own, and those of a folder's own files that were trusted. Raises: InvalidInput."""
        return self._held(workspace).personas

    def warnings(self, workspace: str | None = None) -> list[Reason]:
        """The keys and MCP servers that are ignored, of the person's own files and of a trusted folder's.

        Raises: InvalidInput.
        """
        own = [self._document, self._tools, *(document for document, _ in self._own_personas)]
        held = self._held(workspace)
        documents = [*filter(None, own), *held.documents.values()]
        warnings = [warning for document in documents for warning in document.warnings]
        text = read_text(self.servers_file)
        if text is not None:
            warnings += self.read_servers(text, str(self.servers_file))
        if workspace is not None and SERVERS in held.texts:
            warnings += self.read_servers(held.texts[SERVERS], str(Path(workspace) / FOLDER / SERVERS))
        return warnings

    def check_tools(self, known: Collection[str], categories: Collection[str]) -> None:
        """Raises: InvalidInput where the person's own files name a tool that does not exist."""
        self._known_tools = known
        self._known_categories = categories
        self._holding.clear()  # what a folder says is checked against them too
        check_named_tools(self._document, known)
        if self._tools is not None:
            check_tool_names(self._tools, (*known, *categories))
        for document, persona in self._own_personas:
            check_tools(document, persona, known)

    def _held(self, workspace: str | None) -> _Holding:
        texts = self.trusted.texts(workspace) if self.trusted is not None and workspace is not None else {}
        known = self._holding.get(workspace)
        if known is None or known.texts != texts:
            known = self._made(workspace, texts)
            self._holding[workspace] = known
        return known

    def _made(self, workspace: str | None, texts: Mapping[str, str]) -> _Holding:
        folder = Path(workspace or "") / FOLDER
        documents = {name: Document(folder / name, text) for name, text in texts.items() if name != SERVERS}
        steering = self._made_steering(workspace, documents)
        self._check_project_tools(documents)
        personas = [
            persona_of(document, self.modes, "project")
            for name, document in documents.items()
            if name.startswith(f"{PERSONAS}/")
        ]
        return _Holding(texts, steering, Personas((own for _, own in self._own_personas), personas), documents)

    def _made_steering(self, workspace: str | None, documents: Mapping[str, Document]) -> Steering:
        user = meaning.user_steering(self._document, self.file, self.modes, workspace)
        made = with_tools(user, self.tools)
        if workspace is None:
            return made
        if CONFIG in documents:
            made = self._with_project(made, documents[CONFIG], workspace)
        if TOOLS in documents:
            made = with_tools(made, tool_settings(documents[TOOLS], is_project=True))
        return made

    def _check_project_tools(self, documents: Mapping[str, Document]) -> None:
        """Raises: InvalidInput where a folder's own files misspell a tool."""
        if self._known_tools is None:
            return
        if TOOLS in documents:
            check_tool_names(documents[TOOLS], (*self._known_tools, *self._known_categories))
        if CONFIG in documents:
            check_named_tools(documents[CONFIG], self._known_tools, is_project=True)

    # whether a folder's own files count

    def look(self, folder: str) -> FolderTrust:
        """Raises: InvalidInput for files that cannot be read."""
        return self._trust().look(folder)

    def trust(self, folder: str, digest: str) -> None:
        """Raises: Conflict where it is not what was shown, InvalidInput for what may not be said there."""
        found = self._trust().look(folder)
        self._made(found.folder, found.files)
        if SERVERS in found.files:
            self.read_servers(found.files[SERVERS], str(Path(found.folder) / FOLDER / SERVERS))
        self._trust().trust(folder, digest)

    def distrust(self, folder: str) -> None:
        self._trust().distrust(folder)

    def servers_of(self, folder: str) -> str | None:
        """The file of a folder's own servers of tools, as it was trusted."""
        return self._trust().texts(folder).get(SERVERS)

    def are_programs_as_trusted(self, folder: str) -> bool:
        return self._trust().are_programs_as_trusted(folder)

    def _trust(self) -> Trust:
        assert self.trusted is not None
        return self.trusted

    def _with_project(self, user: Steering, document: Document, workspace: str) -> Steering:
        forbidden = [name for name in document.data if name in _ONLY_ONES_OWN]
        if forbidden:
            allowed = ", ".join(ProjectFile.__struct_fields__)
            document.fail((forbidden[0],), f"A project may not set it; it belongs in {self.user_file}.", allowed)
        return meaning.with_project(user, document, document.checked(document.data, ProjectFile), self.modes, workspace)


_ONLY_ONES_OWN = frozenset(UserFile.__struct_fields__) - frozenset(ProjectFile.__struct_fields__)
