"""The configuration of the user and of project folders. A folder's files apply once trusted, and can only restrict."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pilothouse.config import interpret
from pilothouse.config.personas import PERSONAS_FOLDER, check_tools, persona_names, persona_of
from pilothouse.config.schema import ProjectFile, RootTable, UserFile
from pilothouse.config.toml_document import TomlDocument, read_document, read_text
from pilothouse.config.tools import ToolSettings, check_named_tools, check_tool_names, tool_settings, with_tools
from pilothouse.config.trust import CONFIG_FILE, CONFIG_FOLDER, MCP_SERVERS_FILE, TOOLS_FILE, Trust
from pilothouse.domain.budgets import Budget, OverviewSettings
from pilothouse.domain.codes import Reason
from pilothouse.domain.modes import Modes
from pilothouse.domain.personas import Personas
from pilothouse.domain.trust import FolderTrust
from pilothouse.domain.workspace_policy import WorkspacePolicy
from pilothouse.llm.model_catalog import ModelCatalog


class _WorkspaceConfiguration(NamedTuple):
    """The configuration that applies in a workspace."""

    texts: Mapping[str, str]
    """The trusted texts of the folder's own files."""
    policy: WorkspacePolicy
    personas: Personas
    documents: Mapping[str, TomlDocument]
    """The folder's own files, parsed."""


class Configuration:
    """The user's files, and the policies of workspaces. `user_file` is the path of config.toml, which may not exist;
    the user's other files are in the same folder."""

    def __init__(self, user_file: Path) -> None:
        """Raises: InvalidInput, with file, line, key and the allowed values."""
        self.user_file = user_file
        self.trust_store: Trust | None = None
        self.read_mcp_server_warnings: Callable[[str, str], Sequence[Reason]] = lambda _text, _file: ()
        self._document = read_document(user_file) or TomlDocument(user_file, "")
        self.file = self._document.validate(self._document.data, UserFile)
        self.modes: Modes = interpret.modes_of(self._document, self.file)
        self.model_catalog: ModelCatalog = interpret.model_catalog_of(self._document, self.file)
        self.budget: Budget = interpret.budget_of(self._document, self.file)
        self.overview: OverviewSettings = interpret.overview_of(self.file)
        self.command_variables: tuple[str, ...] = interpret.command_variables_of(self._document, self.file)
        self.roots: list[RootTable] = interpret.roots_of(self._document, self.file)
        self.user_roots: dict[str, list[str]] = interpret.user_roots_of(self._document, self.file)
        interpret.check_server(self._document, self.file, self.modes)
        self._tools = read_document(user_file.parent / TOOLS_FILE)
        self.tools = tool_settings(self._tools) if self._tools is not None else ToolSettings()
        self._known_tools: Collection[str] | None = None
        self._known_categories: Collection[str] = ()
        persona_files = (read_document(user_file.parent / name) for name in persona_names(user_file.parent))
        documents = [document for document in persona_files if document is not None]
        self._user_personas = [(document, persona_of(document, self.modes, "user")) for document in documents]
        self._cache: dict[str | None, _WorkspaceConfiguration] = {}
        self.workspace_policy(None)  # checks the user's rules

    @property
    def user_files(self) -> tuple[Path, ...]:
        """The paths of all files and folders of the user's configuration, existing or not."""
        return (
            self.user_file,
            *(self.user_file.parent / name for name in (TOOLS_FILE, MCP_SERVERS_FILE, PERSONAS_FOLDER)),
        )

    @property
    def mcp_servers_file(self) -> Path:
        return self.user_file.parent / MCP_SERVERS_FILE

    def workspace_policy(self, workspace: str | None) -> WorkspacePolicy:
        """Return a workspace's policy, from the user's files and the folder's trusted ones. Raises: InvalidInput."""
        return self._configuration_of(workspace).policy

    def personas(self, workspace: str | None) -> Personas:
        """Return the personas of the user, and those of the folder's trusted files. Raises: InvalidInput."""
        return self._configuration_of(workspace).personas

    def warnings(self, workspace: str | None = None) -> list[Reason]:
        """Return warnings about ignored keys and MCP servers, in the user's files and the folder's trusted ones.

        Raises: InvalidInput.
        """
        user_documents = [self._document, self._tools, *(document for document, _ in self._user_personas)]
        configuration = self._configuration_of(workspace)
        documents = [*filter(None, user_documents), *configuration.documents.values()]
        warnings = [warning for document in documents for warning in document.warnings]
        text = read_text(self.mcp_servers_file)
        if text is not None:
            warnings += self.read_mcp_server_warnings(text, str(self.mcp_servers_file))
        if workspace is not None and MCP_SERVERS_FILE in configuration.texts:
            warnings += self.read_mcp_server_warnings(
                configuration.texts[MCP_SERVERS_FILE], str(Path(workspace) / CONFIG_FOLDER / MCP_SERVERS_FILE)
            )
        return warnings

    def check_tools(self, tool_names: Collection[str], categories: Collection[str]) -> None:
        """Check the tools that the user's files name; files of folders are checked from now on.

        Raises: InvalidInput for an unknown tool.
        """
        self._known_tools = tool_names
        self._known_categories = categories
        self._cache.clear()  # files of folders are checked against the tools too
        check_named_tools(self._document, tool_names)
        if self._tools is not None:
            check_tool_names(self._tools, (*tool_names, *categories))
        for document, persona in self._user_personas:
            check_tools(document, persona, tool_names)

    def _configuration_of(self, workspace: str | None) -> _WorkspaceConfiguration:
        texts = self.trust_store.texts(workspace) if self.trust_store is not None and workspace is not None else {}
        configuration = self._cache.get(workspace)
        if configuration is None or configuration.texts != texts:
            configuration = self._build(workspace, texts)
            self._cache[workspace] = configuration
        return configuration

    def _build(self, workspace: str | None, texts: Mapping[str, str]) -> _WorkspaceConfiguration:
        """Raises: InvalidInput."""
        folder = Path(workspace or "") / CONFIG_FOLDER
        documents = {
            name: TomlDocument(folder / name, text) for name, text in texts.items() if name != MCP_SERVERS_FILE
        }
        policy = self._build_policy(workspace, documents)
        self._check_project_tools(documents)
        personas = [
            persona_of(document, self.modes, "project")
            for name, document in documents.items()
            if name.startswith(f"{PERSONAS_FOLDER}/")
        ]
        all_personas = Personas((persona for _, persona in self._user_personas), personas)
        return _WorkspaceConfiguration(texts, policy, all_personas, documents)

    def _build_policy(self, workspace: str | None, documents: Mapping[str, TomlDocument]) -> WorkspacePolicy:
        user_policy = interpret.user_policy(self._document, self.file, self.modes, workspace)
        policy = with_tools(user_policy, self.tools)
        if workspace is None:
            return policy
        if CONFIG_FILE in documents:
            policy = self._with_project(policy, documents[CONFIG_FILE], workspace)
        if TOOLS_FILE in documents:
            policy = with_tools(policy, tool_settings(documents[TOOLS_FILE], is_project=True))
        return policy

    def _check_project_tools(self, documents: Mapping[str, TomlDocument]) -> None:
        """Raises: InvalidInput for a misspelt tool in a folder's own files."""
        if self._known_tools is None:
            return
        if TOOLS_FILE in documents:
            check_tool_names(documents[TOOLS_FILE], (*self._known_tools, *self._known_categories))
        if CONFIG_FILE in documents:
            check_named_tools(documents[CONFIG_FILE], self._known_tools, is_project=True)

    # trust in folders

    def status(self, folder: str) -> FolderTrust:
        """Return whether a folder's files are trusted. Raises: InvalidInput for files that cannot be read."""
        return self._trust().status(folder)

    def trust(self, folder: str, digest: str) -> None:
        """Trust a folder's files.

        Raises: Conflict if they are not those with this digest, which the person has read; InvalidInput for settings
        that are invalid or not allowed in a project.
        """
        status = self._trust().status(folder)
        self._build(status.folder, status.files)
        if MCP_SERVERS_FILE in status.files:
            self.read_mcp_server_warnings(
                status.files[MCP_SERVERS_FILE], str(Path(status.folder) / CONFIG_FOLDER / MCP_SERVERS_FILE)
            )
        self._trust().trust(folder, digest)

    def distrust(self, folder: str) -> None:
        self._trust().distrust(folder)

    def mcp_servers_text(self, folder: str) -> str | None:
        """Return the trusted text of the folder's MCP server file."""
        return self._trust().texts(folder).get(MCP_SERVERS_FILE)

    def has_unchanged_programs(self, folder: str) -> bool:
        return self._trust().has_unchanged_programs(folder)

    def _trust(self) -> Trust:
        assert self.trust_store is not None
        return self.trust_store

    def _with_project(self, user_policy: WorkspacePolicy, document: TomlDocument, workspace: str) -> WorkspacePolicy:
        forbidden = [name for name in document.data if name in _USER_ONLY_KEYS]
        if forbidden:
            allowed = ", ".join(ProjectFile.__struct_fields__)
            document.fail((forbidden[0],), f"A project can't set this key. Set it in {self.user_file}.", allowed)
        return interpret.with_project(
            user_policy, document, document.validate(document.data, ProjectFile), self.modes, workspace
        )


_USER_ONLY_KEYS = frozenset(UserFile.__struct_fields__) - frozenset(ProjectFile.__struct_fields__)
