"""The table of known commands and their effects. A command that is not listed may start anything."""

import re
from collections.abc import Callable, Mapping, Sequence

from pilothouse.domain.runner_files import plain_name
from pilothouse.domain.system_programs import SYSTEM_FOLDERS
from pilothouse.sandbox.shell.dangers import network, replacing, rights
from pilothouse.sandbox.shell.effects import LINE, PROGRAM, READS, STRICT, CommandEffect, Level, SimpleCommand, writes
from pilothouse.sandbox.shell.git import git
from pilothouse.sandbox.shell.options import Options, ParsedOptions, names, parse_options
from pilothouse.sandbox.shell.parser_limits import is_harmless_setting
from pilothouse.sandbox.shell.scripts import awk, find, sed, test
from pilothouse.sandbox.shell.words import Word, literal
from pilothouse.sandbox.shell.wrappers import WRAPPERS

Args = Sequence[Word]
Classifier = Callable[[Args], CommandEffect]

# No option or operand of these commands writes or starts anything.
_READERS = names(
    """
    arch b2sum base32 base64 basename cal cat cd cksum clear cmp colrm column comm cut df diff dir dirname du echo egrep
    expand expr factor false fgrep fmt fold free getconf grep groups head hexdump hostid id join jq last locale logname
    look ls lsblk lscpu lsmod lsusb md5sum ncal nl nproc numfmt od paste pathchk pgrep pidof popd pr printenv ps
    pstree pushd pwd readlink realpath rev seq sha1sum sha224sum sha256sum sha384sum sha512sum sleep stat strings sum
    tac tail tr true tsort tty type uname unexpand uptime users vdir vmstat w wc whereis which who whoami yes
    : [[ break continue exit return
    """
)

# These commands write, and start nothing.
_WRITERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(names("touch mkdir mkfifo mktemp link sync gzip gunzip bzip2 iconv history"), ()),
    **dict.fromkeys(names("kill pkill killall"), ()),
    **dict.fromkeys(names("rm rmdir unlink shred"), ("delete",)),
    **dict.fromkeys(names("dd truncate"), ("overwrite",)),
    **dict.fromkeys(names("curl ping dig nslookup host getent"), ("network",)),
    **dict.fromkeys(names("chown chgrp setfacl chattr mount umount setcap"), ("privilege",)),
}

# Of these commands only the request for the version is harmless, in these words. Commands that a folder may reconfigure
# (rustup, yarn) are not listed.
_VERSIONED = names(
    "bash clang clang++ cmake curl date deno docker file find g++ gawk gcc git gradle gzip java javac jq make mvn node "
    "npm perl php pip pip3 psql python python3 rg ruby sed sort sqlite3 tar tmux tree uniq uv vim wget"
)
_VERSIONS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(names("git docker npm"), names("version")),
    **dict.fromkeys(names("node perl ruby php gcc g++ clang npm"), names("-v")),
    **dict.fromkeys(names("python python3"), names("-V")),
    **dict.fromkeys(names("java javac"), names("-version")),
}

_SORT = Options(
    flags="bdfgiMhnRrVcCmsuz",
    valued="ktS",
    long=names(
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort month-sort human-numeric-sort "
        "numeric-sort random-sort reverse version-sort check merge stable unique zero-terminated debug"
    ),
    long_valued=names("key field-separator buffer-size batch-size sort parallel check files0-from"),
)
_UNIQ = Options(
    flags="cdDiuz",
    valued="fsw",
    long=names("count repeated all-repeated ignore-case unique zero-terminated group"),
    long_valued=names("skip-fields skip-chars check-chars all-repeated group"),
)
_DATE = Options(
    flags="uR",
    valued="dr",
    long=names("utc universal rfc-email iso-8601 debug"),
    long_valued=names("date reference iso-8601 rfc-3339"),
)
_HOSTNAME = Options(flags="fsidIAa", long=names("fqdn long short ip-address all-ip-addresses domain"))
_FILE = Options(
    flags="bhikLNnrsv0E",
    valued="FfP",
    long=names("brief mime mime-type mime-encoding dereference no-dereference keep-going raw extension"),
)
_TREE = Options(
    flags="adflxipughDsFqNQrtcUJXSnAC",
    alone="LPI",
    long=names("noreport dirsfirst filesfirst gitignore du si prune inodes device ignore-case matchdirs"),
    long_valued=names("filelimit timefmt charset sort"),
)
# Other options query name servers and cache the answers in a file (-q, -Q, -O), or access the hardware (-H, -M, -A).
_LSPCI = Options(flags="mtvkxbDPn", valued="sd")
_SHUF = Options(flags="ezr", valued="in", long=names("echo repeat zero-terminated"), long_valued=names("head-count"))
_XXD = re.compile(r"-[beipu]|-[cgls] ?\d+")
_PRINTF_ASSIGNMENT = re.compile(r"%[-+ #0-9.*']*[hlLjzt]*n|%[-+ #0-9.*]*\(")
_RG = names("--pre --pre-glob --hostname-bin --search-zip")
_FD = names("--exec --exec-batch --list-details")
_READ = Options(flags="rs", valued="pdnNt")
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_SET = names("-e -u -x -eu -ex -ux -eux -o pipefail +e +u +x -euo -euxo errexit nounset -uo -eo")


def command_effect(command: SimpleCommand) -> CommandEffect:
    """The effect of one simple command."""
    name = command.name.text
    folder, slash, base = name.rpartition("/")
    if slash:
        if folder not in SYSTEM_FOLDERS:  # maybe another program of that name: assume at least the same effect
            effect = command_effect(SimpleCommand(literal(base), command.args))
            return effect._replace(level=max(effect.level, Level.PROGRAM))
        name = base
    args = command.args
    if _asks_for_version(name, args):
        return READS if name in ("npm", "docker", "mvn", "gradle", "curl", "wget") else STRICT
    if name in _READERS:
        return STRICT
    if name in _TABLE:
        return _TABLE[name](args)
    if name in WRAPPERS:
        return WRAPPERS[name](args)
    if name in _WRITERS:
        return writes(*_WRITERS[name])
    return CommandEffect(Level.PROGRAM, dangers=frozenset(network(plain_name(name), args)))


def _asks_for_version(name: str, args: Args) -> bool:
    if name not in _VERSIONED or len(args) != 1 or not args[0].exact:
        return False
    return args[0].text == "--version" or args[0].text in _VERSIONS.get(name, ())


def _harmless(options: Options, operands: Callable[[ParsedOptions], bool] = lambda _: True) -> Classifier:
    """A program that only reads with these options, and with operands that satisfy a condition."""

    def classify(args: Args) -> CommandEffect:
        parts = parse_options(args, options)
        harmless = parts is not None and operands(parts)
        return STRICT if harmless else CommandEffect(Level.PROGRAM, dangers=frozenset({"overwrite"}))

    return classify


def _one_operand(parts: ParsedOptions) -> bool:
    return len(parts.operands) <= 1 and all(word.single for word in parts.operands)


def _no_operand(parts: ParsedOptions) -> bool:
    return not parts.operands


def _formats(parts: ParsedOptions) -> bool:
    return all(word.text.startswith("+") for word in parts.operands)


def _without(refused: frozenset[str], letters: str) -> Classifier:
    """A program that only reads without some options, and takes no abbreviated options."""

    def classify(args: Args) -> CommandEffect:
        for word in args:  # also behind "--", which may be the value of an option
            if word.operand:
                continue
            name = word.text.partition("=")[0]
            cluster = not name.startswith("--") and not set(letters).isdisjoint(name)
            if not word.exact or name in refused or cluster:
                return PROGRAM
        return STRICT

    return classify


def _tee(args: Args) -> CommandEffect:
    if all(word.exact and word.text in ("/dev/null", "-a") for word in args):
        return STRICT
    appends = any(word.exact and word.text in ("-a", "--append") for word in args)
    return writes() if appends else writes("overwrite")


def _printf(args: Args) -> CommandEffect:
    words = args[1:] if args and args[0].exact and args[0].text == "--" else args
    if not words:
        return STRICT
    # -v and %n name a variable: -v evaluates its subscript, %n sets it.
    template = words[0]
    assigns = _PRINTF_ASSIGNMENT.search(template.text.replace("%%", "")) is not None
    return STRICT if template.exact and template.operand and not assigns else LINE


def _xxd(args: Args) -> CommandEffect:
    """The options of xxd are words, not letters, and its second operand is written to."""
    words = [word.text if word.exact else "" for word in args]
    operands, remaining = 0, list(zip(args, words, strict=True))
    while remaining:
        word, text = remaining.pop(0)
        if word.operand:
            operands += 1 if word.single else 2
        elif not _XXD.fullmatch(text) and (not remaining or not _XXD.fullmatch(f"{text} {remaining.pop(0)[1]}")):
            return writes("overwrite")
    return STRICT if operands <= 1 else writes("overwrite")


def _wait(args: Args) -> CommandEffect:
    return STRICT if all(word.exact and word.text.isdecimal() for word in args) else LINE  # -p names a variable


def _read(args: Args) -> CommandEffect:
    parts = parse_options(args, _READ)
    plain = parts is not None and all(word.exact and _NAME.fullmatch(word.text) for word in parts.operands)
    return STRICT if plain else LINE


def _set(args: Args) -> CommandEffect:
    return STRICT if args and all(word.exact and word.text in _SET for word in args) else LINE


def _tar(args: Args) -> CommandEffect:
    """`tar tf archive` only lists. A name with a colon is a file of another machine."""
    lists = args and args[0].exact and re.fullmatch(r"-?t[vzjJ]*f", args[0].text)
    plain = all(word.operand and ":" not in word.text and (word.exact or index) for index, word in enumerate(args[1:]))
    return (
        READS if lists and len(args) > 1 and plain else CommandEffect(Level.PROGRAM, dangers=frozenset({"overwrite"}))
    )


def _unzip(args: Args) -> CommandEffect:
    lists = args and args[0].exact and args[0].text in ("-l", "-v", "-Z1")
    return STRICT if lists and all(word.operand for word in args[1:]) else writes("overwrite")


def _only(allowed: re.Pattern[str], otherwise: CommandEffect) -> Classifier:
    """A program that only reads where every word matches a pattern."""
    return lambda args: STRICT if all(word.exact and allowed.fullmatch(word.text) for word in args) else otherwise


def _export(args: Args) -> CommandEffect:
    """The line's following commands are started with the exported variables."""
    settings = [word.text.partition("=") for word in args if word.exact]
    harmless = len(settings) == len(args) and all(is_harmless_setting(name, value) for name, _, value in settings)
    return STRICT if args and harmless else LINE


def _zcat(args: Args) -> CommandEffect:
    return STRICT if all(word.operand for word in args) else PROGRAM


def _replacing(program: str) -> Classifier:
    return lambda args: writes(*replacing(program, args))


_TABLE: Mapping[str, Classifier] = {
    "chmod": lambda args: writes(*rights(args)),
    **{program: _replacing(program) for program in ("cp", "mv", "ln")},
    "awk": awk,
    "gawk": awk,
    "mawk": awk,
    "date": _harmless(_DATE, _formats),
    "export": _export,
    "fd": _without(_FD, "xXl"),
    "fdfind": _without(_FD, "xXl"),
    "file": _harmless(_FILE),
    "find": find,
    "git": git,
    "hostname": _harmless(_HOSTNAME, _no_operand),
    "lspci": _harmless(_LSPCI, _no_operand),
    "printf": _printf,
    "read": _read,
    "rg": _without(_RG, "z"),
    "sed": sed,
    "set": _set,
    "shuf": _harmless(_SHUF),
    "sort": _harmless(_SORT),
    "tar": _tar,
    "tee": _tee,
    "test": test,
    "tput": _only(re.compile("cols|lines|colors"), PROGRAM),
    "tree": _harmless(_TREE),
    "ulimit": _only(re.compile("-[HSabcdefiklmnpqrstuvx]+"), writes()),
    "umask": _only(re.compile("-[Sp]+"), writes()),
    "uniq": _harmless(_UNIQ, _one_operand),
    "unzip": _unzip,
    "wait": _wait,
    "xxd": _xxd,
    "zcat": _zcat,
}
