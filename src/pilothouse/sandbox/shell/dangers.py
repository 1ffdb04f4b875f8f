"""The danger marks on a command's card: deleting, overwriting, network, rights.

People ignore marks that are often wrong, so harmless uses are recognised. A command with an unknown word keeps the
mark that it usually has.
"""

import posixpath
import re
from collections.abc import Mapping, Sequence

from pilothouse.sandbox.shell.global_options import COMPOSE, options_of, parse_command
from pilothouse.sandbox.shell.options import names
from pilothouse.sandbox.shell.words import Word

Args = Sequence[Word]

_NODE = names("test t tst run run-script start stop restart ls list ll la why explain root prefix bin version help")
_PYTHON = names("list show freeze check inspect debug help")
_CONTAINERS = names(
    "ps images logs inspect stop start restart rm rmi exec top stats port diff rename kill version info cp"
)
_COMPOSE = names("ps logs down stop start restart rm config exec kill top ls events port images pause unpause version")
# Of these groups of commands, the ones that use the network; of all others, none does.
_CONTAINER_GROUPS = names("container image network system volume")
_PULLING = names("pull push build run create import")
# Subcommands that do not use the network themselves; a script of the project may.
_OFFLINE: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(names("npm pnpm yarn bun"), _NODE),
    "pip": _PYTHON,
    **dict.fromkeys(names("docker podman"), _CONTAINERS),
    "apt": names("list show policy"),
    "brew": names("list info leaves deps"),
    "cargo": names("fmt clean help version"),
    "gem": names("list environment contents which help"),
    "go": names("fmt env version help clean"),
    "pipx": names("list environment"),
    "uv": names("version help cache"),
    "aws": names("configure help"),
    "bundle": names("exec list show check info config"),
    "composer": names("show validate dump-autoload run-script exec"),
    "conda": names("list info activate run config"),
    "docker-compose": _COMPOSE,
    "gh": names("version help completion config alias"),
    "helm": names("template lint version help"),
    "nvm": names("ls current use which"),
    "pipenv": names("run shell graph"),
    "poetry": names("run show check env version config shell build"),
    "rclone": names("config version help listremotes"),
    "rustup": names("show which run doc"),
    "snap": names("list info"),
    "flatpak": names("list info"),
    **dict.fromkeys(names("terraform tofu"), names("fmt validate version output graph console show")),
}
_FETCHING = names(
    """
    ssh scp sftp wget nc ncat socat telnet ftp lftp tftp mosh ssh-copy-id sshfs aria2c lynx w3m elinks youtube-dl yt-dlp
    http https xh nmap traceroute tracepath mtr whois
    pip pipx uv uvx pipenv poetry conda mamba npm npx pnpm pnpx yarn bun bunx cargo go gem bundle composer rustup nvm
    apt apt-get dnf yum apk pacman zypper snap flatpak brew nix-shell
    docker docker-compose podman kubectl helm skopeo terraform tofu ansible ansible-playbook
    aws gsutil gcloud az gh glab hub rclone s3cmd heroku vercel netlify flyctl wrangler
    """
)
_COPY_OPTION = re.compile(r"-[rRapvfiudLPH]+")
_MIN_ABBREVIATION = len("--a")
_CONTAINER_PROGRAMS = names("docker podman")
_MODE = re.compile(r"0?0?[0-7][0-7][0145]|[ugoa]*+[-=+][rwxX]*+(?>(?:,[ugoa]*+[-=+][rwxX]*+)*)")
_OPENS_TO_ALL = re.compile(r"(?:^|,)(?:[ug]*[oa][ugoa]*)[+=][rxX]*w")


def network(program: str, args: Args) -> set[str]:
    """The mark of a program that uses the network, unless its subcommand does not."""
    if program not in _FETCHING or (len(args) == 1 and has_option(args[0], "--version", "--help")):
        return set()
    parsed = parse_command(args, options_of(program))
    offline = _OFFLINE.get(program, frozenset())
    commands = {words[0].text for words in parsed.subcommands if not _is_local_container_command(program, words)}
    return set() if parsed.subcommands and parsed.is_literal and commands <= offline else {"network"}


def _is_local_container_command(program: str, words: Args) -> bool:
    """Whether a command of a group (`docker volume rm`) does not use the network."""
    second = words[1].text if len(words) > 1 and words[1].exact else ""
    if program not in _CONTAINER_PROGRAMS or not second:
        return False
    if words[0].text == "compose":
        parsed = parse_command(words[1:], COMPOSE)
        return bool(parsed.subcommands) and {sub[0].text for sub in parsed.subcommands} <= _COMPOSE
    return words[0].text in _CONTAINER_GROUPS and second not in _PULLING


def rights(args: Args) -> set[str]:
    """The mark of `chmod`: for modes that let everybody write, for set-ID bits, and for unknown modes."""
    mode = next(
        (word.text if word.exact else "" for word in args if not has_option(word, "-R", "-v", "-c", "--recursive")), ""
    )
    return set() if _MODE.fullmatch(mode) and not _OPENS_TO_ALL.search(mode) else {"privilege"}


def replaces(program: str, args: Args) -> bool:
    """Whether `cp`, `mv` or `ln` may replace files: unless an option keeps them from it."""
    if not all(word.exact or word.operand for word in args):
        return True
    options = {letter for word in args if not word.operand and word.text[:2] != "--" for letter in word.text[1:]}
    long_options = {word.text for word in args if word.text[:2] == "--"}
    if program == "ln":
        return "f" in options or bool(long_options)
    return not ("n" in options and not options & set("fi") and not long_options)


def replaced_files(args: Args) -> tuple[str, ...] | None:
    """The files that `cp` or `mv` replaces if they exist; None where the words do not tell. A name that ends in `/.` is
    a folder."""
    operands = [word.text for word in args if word.operand]
    is_known = all(word.exact and (word.operand or _COPY_OPTION.fullmatch(word.text)) for word in args)
    if not is_known or len(operands) < 2 or not all(operands):
        return None
    *sources, target = operands
    inside = [posixpath.join(target, posixpath.basename(source.rstrip("/"))) for source in sources]
    return (target, *inside, *(f"{path}/." for path in inside))


def has_option(word: Word, *options: str) -> bool:
    return word.exact and word.text in options


def has_flag(args: Args, letters: str, *options: str) -> bool:
    """Whether one of these options is among the arguments: a letter, also in a cluster, or a long name, also
    abbreviated."""
    return any(word.exact and not word.operand and _is_flag(word.text, letters, options) for word in args)


def _is_flag(text: str, letters: str, options: Sequence[str]) -> bool:
    name = text.partition("=")[0]
    if name.startswith("--"):
        return len(name) > _MIN_ABBREVIATION and any(option.startswith(name) for option in options)
    return not set(letters).isdisjoint(name[1:])
