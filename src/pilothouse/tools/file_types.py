"""Detection of a file's language and role from its name alone."""

# Generated or installed folders: every overview omits them, whatever the ignore files say.
GENERATED_NAMES = frozenset(
    {
        *(".git", ".hg", ".svn", ".jj", "node_modules", "bower_components", "__pycache__", ".venv", "venv"),
        *(".tox", ".nox", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".gradle", ".terraform"),
        *(".next", ".nuxt", ".cache", ".DS_Store"),
    }
)


def _by_suffix(table: str) -> dict[str, str]:
    rows = (row.partition(":") for row in table.replace("\n", ",").split(","))
    return {suffix: language.strip() for language, _, suffixes in rows for suffix in suffixes.split()}


_CODE = _by_suffix(
    """Python: py pyi, Jupyter: ipynb, JavaScript: js mjs cjs jsx, TypeScript: ts mts cts tsx, Vue: vue, Svelte: svelte
    Rust: rs, Go: go, C: c h, C++: cc cpp cxx hh hpp, C#: cs, F#: fs, Visual Basic: vb, Objective-C: m mm, Swift: swift
    Java: java, Kotlin: kt kts, Scala: scala, Groovy: groovy, Clojure: clj cljs, Ruby: rb, PHP: php, Perl: pl pm
    Lua: lua, R: r, Julia: jl, Haskell: hs, OCaml: ml mli, Erlang: erl, Elixir: ex exs, Elm: elm, Dart: dart, Zig: zig
    Nim: nim, Fortran: f90, Assembly: asm s, Shell: sh bash zsh fish, PowerShell: ps1, Batch: bat, HTML: html htm"""
)
_LANGUAGES = _CODE | _by_suffix(
    """CSS: css scss sass less, SQL: sql, Terraform: tf, Nix: nix, Protocol Buffers: proto, GraphQL: graphql, TeX: tex
    Markdown: md, reStructuredText: rst, JSON: json, YAML: yaml yml, TOML: toml, XML: xml"""
)

_MANIFESTS = frozenset(
    {
        *("readme", "readme.md", "readme.rst", "readme.txt", "readme.adoc", "readme.org"),
        *("makefile", "gnumakefile", "justfile", "dockerfile", "containerfile", "procfile", "rakefile", "gemfile"),
        *("pyproject.toml", "setup.py", "requirements.txt", "package.json", "deno.json", "cargo.toml", "go.mod"),
        *("pom.xml", "build.gradle", "build.gradle.kts", "build.sbt", "cmakelists.txt", "meson.build", "mix.exs"),
        *("composer.json", "package.swift", "pubspec.yaml", "flake.nix", "build.zig", "manage.py"),
        *("docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"),
    }
)
_ENTRY_POINT_STEMS = frozenset({"main", "__main__", "app", "index", "cli", "server", "program"})


def classify_name(name: str) -> tuple[str | None, bool]:
    """The language of a file, and whether the file is an entry point to read or run."""
    lower = name.lower()
    stem, _, suffix = lower.rpartition(".")
    return _LANGUAGES.get(suffix) if stem else None, lower in _MANIFESTS or (
        stem in _ENTRY_POINT_STEMS and suffix in _CODE
    )
