"""Options of a program before its subcommand: `git -C FOLDER push`, `npm --prefix FOLDER install`."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pilothouse.domain.command_line import UNKNOWN_WORD
from pilothouse.sandbox.shell.effects import SimpleCommand
from pilothouse.sandbox.shell.options import names
from pilothouse.sandbox.shell.words import Word, literal

Args = Sequence[Word]
_MAX_UNKNOWN = 10


class GlobalOptions(NamedTuple):
    """The options that a program accepts before its subcommand."""

    flags: frozenset[str] = frozenset()
    """Options without a value."""
    valued: frozenset[str] = frozenset()
    """Options with a value in the next word; long ones also take it behind `=`."""


class ParsedCommand(NamedTuple):
    """The words of a command, split at its subcommand."""

    options: tuple[tuple[str, Word | None], ...]
    """The options before the subcommand, with their values."""
    rest: tuple[Word, ...]
    """The subcommand and its arguments."""
    unknown: int = 0
    """The number of options that are not known."""

    @property
    def subcommands(self) -> tuple[tuple[Word, ...], ...]:
        """The possible subcommands, each with its arguments: an unknown option may take the next word as its value."""
        words = self.rest[: 1 + min(self.unknown, _MAX_UNKNOWN)]
        return tuple(self.rest[index:] for index, word in enumerate(words) if word.exact)

    @property
    def is_literal(self) -> bool:
        """Whether the options contain no unknown word."""
        return not any(name == UNKNOWN_WORD for name, _ in self.options)


_NONE = GlobalOptions()
GIT = GlobalOptions(
    names(
        "-p --paginate -P --no-pager --no-replace-objects --no-lazy-fetch --bare --literal-pathspecs --glob-pathspecs "
        "--noglob-pathspecs --icase-pathspecs --no-optional-locks --no-advice"
    ),
    names("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --exec-path --attr-source"),
)
_GIT_GLUED_ONLY = names("--exec-path")
"""git takes the value of these behind `=` only; without a value, they print a folder."""
_NPM = GlobalOptions(
    names(
        "-s --silent -q --quiet -d --verbose -g --global -f --force -y --yes --json --workspaces -ws --no-color "
        "--no-progress --include-workspace-root --offline --prefer-offline"
    ),
    names("-C --prefix -w --workspace --loglevel --registry --userconfig --globalconfig --cache"),
)
_PNPM = GlobalOptions(
    names("-r --recursive -w --workspace-root -s --silent --parallel --stream --no-color"),
    names("-C --dir -F --filter --filter-prod --loglevel --reporter"),
)
_DOCKER = GlobalOptions(
    names("-D --debug --tls --tlsverify -r --remote"),
    names(
        "-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey --connection --url --root "
        "--runroot --storage-driver"
    ),
)
COMPOSE = GlobalOptions(
    names("--all-resources --compatibility --dry-run --verbose"),
    names(
        "-f --file -p --project-name --profile --env-file --project-directory --ansi --parallel --progress --context"
    ),
)
_KUBECTL = GlobalOptions(
    names("--insecure-skip-tls-verify --match-server-version --warnings-as-errors --debug"),
    names(
        "-n --namespace --context --cluster --user -s --server --kubeconfig --token --as --as-group --request-timeout "
        "--cache-dir --kube-context -v --certificate-authority --client-key --client-certificate"
    ),
)
_PIP = GlobalOptions(
    names(
        "-q --quiet -v --verbose --no-cache-dir --disable-pip-version-check --isolated --no-color --no-input --debug "
        "--require-virtualenv"
    ),
    names("--python --log --proxy --timeout --retries --cache-dir --cert --trusted-host --exists-action"),
)
PROGRAM_OPTIONS: Mapping[str, GlobalOptions] = {
    "apt": GlobalOptions(names("-y --yes -q -qq"), names("-o -t -c")),
    "apt-get": GlobalOptions(names("-y --yes -q -qq"), names("-o -t -c")),
    "aws": GlobalOptions(
        names("--debug --no-cli-pager --no-verify-ssl --no-sign-request"),
        names("--profile --region --output --endpoint-url"),
    ),
    "bun": GlobalOptions(names("--bun --silent"), names("--cwd")),
    "cargo": GlobalOptions(
        names("-q --quiet -v -vv --verbose --frozen --locked --offline"), names("-C -Z --config --color")
    ),
    "composer": GlobalOptions(names("-q --quiet -n --no-interaction -v -vv"), names("-d --working-dir")),
    "dnf": GlobalOptions(names("-y -q")),
    "docker": _DOCKER,
    "docker-compose": COMPOSE,
    "git": GIT,
    "go": GlobalOptions(valued=names("-C")),
    "helm": _KUBECTL,
    "kubectl": _KUBECTL,
    "make": GlobalOptions(
        names("-k -s -B -i -n -w -j --silent --keep-going"), names("-C --directory -f --file --makefile -I -o -W -E")
    ),
    "npm": _NPM,
    "pip": _PIP,
    "pnpm": _PNPM,
    "podman": _DOCKER,
    "poetry": GlobalOptions(names("-q --quiet -n --no-interaction -v -vv"), names("-C --directory -P --project")),
    "systemctl": GlobalOptions(
        names("--user --system --global --no-pager -q --quiet --no-block --now -f --force --no-ask-password"),
        names("-H --host -M --machine -n --lines -o --output -t --type"),
    ),
    "terraform": GlobalOptions(valued=names("-chdir")),
    "uv": GlobalOptions(
        names("-q --quiet -v --verbose --offline -n --no-cache --no-progress"),
        names("--directory --project --cache-dir --config-file"),
    ),
    "yarn": GlobalOptions(names("-s --silent --verbose"), names("--cwd")),
    "yum": GlobalOptions(names("-y -q")),
}


def parse_command(args: Args, options: GlobalOptions) -> ParsedCommand:
    """Split the arguments of a program at its subcommand. Unknown options are taken for flags."""
    parsed_options: list[tuple[str, Word | None]] = []
    remaining, unknown = list(args), 0
    while remaining and not (remaining[0].exact and remaining[0].text[:1] not in ("-", "+")):
        word = remaining.pop(0)
        name, equals, value = word.text.partition("=")
        has_value = word.exact and name in options.valued
        if has_value and equals and name.startswith("-"):
            parsed_options.append((name, literal(value)))
        elif has_value and remaining and name not in _GIT_GLUED_ONLY:
            parsed_options.append((name, remaining.pop(0)))
        else:
            is_toolchain = word.text[:1] == "+"  # `cargo +nightly build`
            unknown += not (word.exact and (word.text in options.flags or is_toolchain))
            parsed_options.append((word.text if word.exact else UNKNOWN_WORD, None))
    return ParsedCommand(tuple(parsed_options), tuple(remaining), unknown)


def parse_git(words: Sequence[str]) -> ParsedCommand:
    """Split the words of a git command, with its program, at the subcommand."""
    return parse_command([literal(word) for word in words[1:]], GIT)


def plain_commands(program: str, parsed: ParsedCommand) -> tuple[SimpleCommand, ...]:
    """For rules: the same command without the program's own options, as it may be understood."""
    if not parsed.options:
        return ()
    return tuple(SimpleCommand(literal(program), words) for words in parsed.subcommands)


def options_of(program: str) -> GlobalOptions:
    return PROGRAM_OPTIONS.get(program, _NONE)
