"""What is known of single commands. One that does not stand here may start anything."""

import re
from collections.abc import Callable, Mapping, Sequence

from pilothouse.domain.runner_files import plain_name
from pilothouse.domain.system_programs import SYSTEM_FOLDERS
from pilothouse.sandbox.shell.dangers import network, replacing, rights
from pilothouse.sandbox.shell.doubts import is_harmless_setting
from pilothouse.sandbox.shell.git import git
from pilothouse.sandbox.shell.levels import LINE, PROGRAM, READS, STRICT, Finding, Level, Simple, writes
from pilothouse.sandbox.shell.options import Options, Split, names, split
from pilothouse.sandbox.shell.scripts import awk, find, sed, test
from pilothouse.sandbox.shell.words import Word, literal
from pilothouse.sandbox.shell.wrappers import WRAPPERS

Args = Sequence[Word]
Knowledge = Callable[[Args], Finding]

# None of their options and operands writes or starts anything.
_ONLY_READ = names(
    """
    arch b2sum base32 base64 basename cal cat cd cksum clear cmp colrm column comm cut df diff dir dirname du echo egrep
    expand expr factor false fgrep fmt fold free getconf grep groups head hexdump hostid id join jq last locale logname
    look ls lsblk lscpu lsmod lsusb md5sum ncal nl nproc numfmt od paste pathchk pgrep pidof popd pr printenv ps
    pstree pushd pwd readlink realpath rev seq sha1sum sha224sum sha256sum sha384sum sha512sum sleep stat strings sum
    tac tail tr true tsort tty type uname unexpand uptime users vdir vmstat w wc whereis which who whoami yes
    : [[ break continue exit return
    """
)

# They change what they are made to change, and start nothing.
_WRITE: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(names("touch mkdir mkfifo mktemp link sync gzip gunzip bzip2 iconv history"), ()),
    **dict.fromkeys(names("kill pkill killall"), ()),
    **dict.fromkeys(names("rm rmdir unlink shred"), ("delete",)),
    **dict.fromkeys(names("dd truncate"), ("overwrite",)),
    **dict.fromkeys(names("curl ping dig nslookup host getent"), ("network",)),
    **dict.fromkeys(names("chown chgrp setfacl chattr mount umount setcap"), ("privilege",)),
}

# Of these, only asking for the version is harmless, in these words. Those that a folder may make do more (rustup,
# yarn) are not here.
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
# Others ask name servers and keep the answers in a file (-q, -Q, -O), or access the hardware itself (-H, -M, -A).
_LSPCI = Options(flags="mtvkxbDPn", valued="sd")
_SHUF = Options(flags="ezr", valued="in", long=names("echo repeat zero-terminated"), long_valued=names("head-count"))
_XXD = re.compile(r"-[beipu]|-[cgls] ?\d+")
_SETS = re.compile(r"%[-+ #0-9.*']*[hlLjzt]*n|%[-+ #0-9.*]*\(")
_RG = names("--pre --pre-glob --hostname-bin --search-zip")
_FD = names("--exec --exec-batch --list-details")
_READ = Options(flags="rs", valued="pdnNt")
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_SET = names("-e -u -x -eu -ex -ux -eux -o pipefail +e +u +x -euo -euxo errexit nounset -uo -eo")


def known(command: Simple) -> Finding:
    """How far one simple command goes."""
    name = command.name.text
    folder, slash, base = name.rpartition("/")
    if slash:
        if folder not in SYSTEM_FOLDERS:  # it may be another program of that name: it does at least as much
            same = known(Simple(literal(base), command.args))
            return same._replace(level=max(same.level, Level.PROGRAM))
        name = base
    args = command.args
    if _asks_for_version(name, args):
        return READS if name in ("npm", "docker", "mvn", "gradle", "curl", "wget") else STRICT
    if name in _ONLY_READ:
        return STRICT
    if name in _TABLE:
        return _TABLE[name](args)
    if name in WRAPPERS:
        return WRAPPERS[name](args)
    if name in _WRITE:
        return writes(*_WRITE[name])
    return Finding(Level.PROGRAM, dangers=frozenset(network(plain_name(name), args)))


def _asks_for_version(name: str, args: Args) -> bool:
    if name not in _VERSIONED or len(args) != 1 or not args[0].exact:
        return False
    return args[0].text == "--version" or args[0].text in _VERSIONS.get(name, ())


def _harmless(options: Options, operands: Callable[[Split], bool] = lambda _: True) -> Knowledge:
    """Only reads with these options, and with operands that fit."""

    def judge(args: Args) -> Finding:
        found = split(args, options)
        harmless = found is not None and operands(found)
        return STRICT if harmless else Finding(Level.PROGRAM, dangers=frozenset({"overwrite"}))

    return judge


def _one_operand(found: Split) -> bool:
    return len(found.operands) <= 1 and all(word.single for word in found.operands)


def _no_operand(found: Split) -> bool:
    return not found.operands


def _formats(found: Split) -> bool:
    return all(word.text.startswith("+") for word in found.operands)


def _without(refused: frozenset[str], letters: str) -> Knowledge:
    """Programs that read no shortened options: what is refused is refused by name."""

    def judge(args: Args) -> Finding:
        for word in args:  # behind "--", too: it may be the value of an option
            if word.operand:
                continue
            name = word.text.partition("=")[0]
            cluster = not name.startswith("--") and not set(letters).isdisjoint(name)
            if not word.exact or name in refused or cluster:
                return PROGRAM
        return STRICT

    return judge


def _tee(args: Args) -> Finding:
    to_nowhere = all(word.exact and word.text in ("/dev/null", "-a") for word in args)
    if to_nowhere:
        return STRICT
    appends = any(word.exact and word.text in ("-a", "--append") for word in args)
    return writes() if appends else writes("overwrite")


def _printf(args: Args) -> Finding:
    given = args[1:] if args and args[0].exact and args[0].text == "--" else args
    # -v and %n name a variable: one calculates its subscript, the other sets it.
    harmless = not given or (given[0].exact and given[0].operand and not _SETS.search(given[0].text.replace("%%", "")))
    return STRICT if harmless else LINE


def _xxd(args: Args) -> Finding:
    """Its options are words, not letters, and a second name is written to."""
    words = [word.text if word.exact else "" for word in args]
    operands, left = 0, list(zip(args, words, strict=True))
    while left:
        word, text = left.pop(0)
        if word.operand:
            operands += 1 if word.single else 2
        elif not _XXD.fullmatch(text) and (not left or not _XXD.fullmatch(f"{text} {left.pop(0)[1]}")):
            return writes("overwrite")
    return STRICT if operands <= 1 else writes("overwrite")


def _wait(args: Args) -> Finding:
    return STRICT if all(word.exact and word.text.isdecimal() for word in args) else LINE  # -p names a variable


def _read(args: Args) -> Finding:
    found = split(args, _READ)
    plain = found is not None and all(word.exact and _NAME.fullmatch(word.text) for word in found.operands)
    return STRICT if plain else LINE


def _set(args: Args) -> Finding:
    return STRICT if args and all(word.exact and word.text in _SET for word in args) else LINE


def _tar(args: Args) -> Finding:
    """`tar tf archive`: listing alone. A name with a colon is another machine's."""
    lists = args and args[0].exact and re.fullmatch(r"-?t[vzjJ]*f", args[0].text)
    plain = all(word.operand and ":" not in word.text and (word.exact or index) for index, word in enumerate(args[1:]))
    return READS if lists and len(args) > 1 and plain else Finding(Level.PROGRAM, dangers=frozenset({"overwrite"}))


def _unzip(args: Args) -> Finding:
    lists = args and args[0].exact and args[0].text in ("-l", "-v", "-Z1")
    return STRICT if lists and all(word.operand for word in args[1:]) else writes("overwrite")


def _only(allowed: re.Pattern[str], otherwise: Finding) -> Knowledge:
    """Only reads where every word is one of these."""
    return lambda args: STRICT if all(word.exact and allowed.fullmatch(word.text) for word in args) else otherwise


def _export(args: Args) -> Finding:
    """Whatever follows in the line is started with these variables."""
    settings = [word.text.partition("=") for word in args if word.exact]
    harmless = len(settings) == len(args) and all(is_harmless_setting(name, value) for name, _, value in settings)
    return STRICT if args and harmless else LINE


def _zcat(args: Args) -> Finding:
    return STRICT if all(word.operand for word in args) else PROGRAM


def _replacing(program: str) -> Knowledge:
    return lambda args: writes(*replacing(program, args))


_TABLE: Mapping[str, Knowledge] = {
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
