"""Programs that only read. Some of their options resolve names of hosts, open devices or write temporary files: with
these a program is CONFINED, which only the kernel's sandbox makes harmless.
"""

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence

from pilothouse.sandbox.shell.effects import CONFINED, STRICT, CommandEffect, Level
from pilothouse.sandbox.shell.options import Options, ParsedOptions, names, parse_options
from pilothouse.sandbox.shell.words import Word

Args = Sequence[Word]
Classifier = Callable[[Args], CommandEffect]

_OVERWRITES = CommandEffect(Level.PROGRAM, dangers=frozenset({"overwrite"}))

# No option of these programs writes, resolves a name of a host or starts anything, and they open no operand.
_NAME_READERS = names(
    """
    arch basename cal cd clear dir dirname du echo expr factor false free groups id locale logname ls lscpu lsmod ncal
    nproc numfmt pathchk popd printenv ps pstree pushd pwd readlink realpath seq sleep stat true tty type uname
    uptime users vdir vmstat whereis which whoami yes : [[ break continue exit return
    """
)
# The same of these programs, which open their operands.
_FILE_READERS = names(
    """
    b2sum base32 base64 cat cksum cmp colrm column comm cut egrep expand fgrep fmt fold grep head hexdump join jq look
    md5sum nl od paste pr rev sha1sum sha224sum sha256sum sha384sum sha512sum strings sum tail tr tsort unexpand wc
    """
)
# Opening other devices can change them: a tape is rewound, a watchdog is armed.
_HARMLESS_DEVICES = re.compile(r"/dev/(?:null|zero|full|u?random|std(?:in|out|err)|fd/\d+)")

_LAST = Options(flags="aFRwx", valued="ns", numbers=True)
_WHO = Options(
    flags="abdHlmpqrstTuw",
    long=names("all boot dead heading login process count runlevel short time users mesg message writable"),
)
_W = Options(flags="hsuof", long=names("no-header short no-current old-style from"))
_DF = Options(
    flags="ahHiklPTv",
    valued="Btx",
    long=names("all human-readable si inodes local no-sync portability print-type total output"),
    long_valued=names("block-size output type exclude-type"),
)
_GETCONF = Options(flags="a")
_PGREP = Options(
    flags="laxfcnoviw",
    valued="dgGPstuU",
    long=names("list-name list-full exact full count newest oldest inverse ignore-case lightweight"),
    long_valued=names("delimiter pgroup group parent session terminal euid uid older"),
)
_PIDOF = Options(flags="scqnxz")  # of others, and of wrong values, `pidof` complains to the console
_LSUSB = Options(flags="tV", valued="sd", long=names("tree version"))
_LSBLK = Options(
    flags="abdilnpPrJSsTD",
    valued="oIeMx",
    long=names("all bytes nodeps ascii list noheadings paths pairs raw json scsi inverse tree discard"),
    long_valued=names("output include exclude sort"),
)
_LSBLK_COLUMNS = re.compile(
    r"(?:NAME|KNAME|PATH|MAJ:MIN|SIZE|TYPE|MOUNTPOINTS?|RO|RM|MODEL|VENDOR|TRAN|ROTA|PKNAME|HCTL|STATE)"
    r"(?:,(?:NAME|KNAME|PATH|MAJ:MIN|SIZE|TYPE|MOUNTPOINTS?|RO|RM|MODEL|VENDOR|TRAN|ROTA|PKNAME|HCTL|STATE))*",
    re.IGNORECASE,
)
_SORT = Options(
    flags="bdfgiMhnRrVcCmsuz",
    valued="ktS",
    long=names(
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort month-sort human-numeric-sort "
        "numeric-sort random-sort reverse version-sort check merge stable unique zero-terminated debug"
    ),
    long_valued=names("key field-separator buffer-size batch-size sort parallel check files0-from"),
)
_SORT_BUFFERS = names("S buffer-size batch-size m merge")
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


def _always(_: ParsedOptions) -> bool:
    return True


def _no_operand(parts: ParsedOptions) -> bool:
    return not parts.operands


def _one_operand(parts: ParsedOptions) -> bool:
    return len(parts.operands) <= 1 and all(word.single for word in parts.operands)


def _formats(parts: ParsedOptions) -> bool:
    return all(word.text.startswith("+") for word in parts.operands)


def _names_file(parts: ParsedOptions) -> bool:
    """`tac` copies what is not a file, such as a pipe, to a temporary file first."""
    return bool(parts.operands) and all(word.exact and word.text != "-" for word in parts.operands)


def _has_plain_columns(parts: ParsedOptions) -> bool:
    """Other columns of `lsblk` are read from the devices themselves."""
    columns = [value for name, value in parts.values if name in ("o", "output")]
    return all(value.exact and _LSBLK_COLUMNS.fullmatch(value.text) for value in columns)


def _keeps_in_memory(parts: ParsedOptions) -> bool:
    """With a small buffer, and to merge, `sort` writes temporary files."""
    return _SORT_BUFFERS.isdisjoint({name for name, _ in parts.values} | parts.flags)


def _keeps_off_devices(parts: ParsedOptions) -> bool:
    return "s" not in parts.flags  # `file -s` reads devices


def _has_no_flags(parts: ParsedOptions) -> bool:
    return not parts.flags and not parts.operands


def _reads_settings_once(parts: ParsedOptions) -> bool:
    return "x" not in parts.flags  # `lspci -xxx` hangs some devices


def _reader(
    options: Options, is_strict: Callable[[ParsedOptions], bool] = _always, otherwise: CommandEffect = CONFINED
) -> Classifier:
    """A program that is strict with these options, where a condition holds. It has the effect `otherwise` with other
    options."""

    def classify(args: Args) -> CommandEffect:
        parts = parse_options(args, options)
        return otherwise if parts is None else STRICT if is_strict(parts) else CONFINED

    return classify


def _writer(
    options: Options,
    only_reads: Callable[[ParsedOptions], bool],
    is_strict: Callable[[ParsedOptions], bool] = _always,
) -> Classifier:
    """A program that writes or starts something with other options or operands."""

    def classify(args: Args) -> CommandEffect:
        parts = parse_options(args, options)
        if parts is None or not only_reads(parts):
            return _OVERWRITES
        return STRICT if is_strict(parts) else CONFINED

    return classify


def _diff(args: Args) -> CommandEffect:
    """`diff -l` starts `pr`."""
    for word in args:
        is_long = word.text[:3] == "--p" and "--paginate".startswith(word.text)
        if is_long or (not word.operand and word.text[:2] != "--" and (not word.exact or "l" in word.text)):
            return CONFINED
    return STRICT


READERS: Mapping[str, Classifier] = {
    **dict.fromkeys(_NAME_READERS | _FILE_READERS, lambda _: STRICT),
    "date": _writer(_DATE, _formats),
    "df": _reader(_DF),
    "diff": _diff,
    "file": _writer(_FILE, _always, _keeps_off_devices),
    "getconf": _reader(_GETCONF),
    "hostid": lambda _: CONFINED,
    "hostname": _writer(_HOSTNAME, _no_operand, _has_no_flags),
    "last": _reader(_LAST),
    "lsblk": _reader(_LSBLK, _has_plain_columns),
    "lspci": _writer(_LSPCI, _no_operand, _reads_settings_once),
    "lsusb": _reader(_LSUSB),
    "pgrep": _reader(_PGREP),
    "pidof": _reader(_PIDOF),
    "shuf": _writer(_SHUF, _always),
    "sort": _writer(_SORT, _always, _keeps_in_memory),
    "tac": _reader(Options(flags="br", valued="s"), _names_file),
    "tree": _writer(_TREE, _always),
    "uniq": _writer(_UNIQ, _one_operand),
    "w": _reader(_W),
    "who": _reader(_WHO),
}

_OPENING = _FILE_READERS | names("awk diff file gawk mawk rg sed shuf sort tac uniq xxd zcat")


def opens_device(program: str, args: Args) -> bool:
    """Whether a program that only reads may open a device which is named in its arguments."""
    if program not in _OPENING:
        return False
    words = (part for word in args for part in (word.text, word.text.partition("=")[2]))
    paths = (posixpath.normpath(word).replace("//", "/") for word in words if word.startswith("/"))
    return any(path.startswith("/dev/") and not _HARMLESS_DEVICES.fullmatch(path) for path in paths)


# Of these programs the request for their version is harmless, in these words. Commands that a folder may reconfigure
# (rustup, yarn) are not listed.
_VERSIONED = names(
    "bash clang clang++ cmake date file find g++ gawk gcc git gzip jq make node perl psql python python3 rg sed sort "
    "tar tmux tree uniq vim"
)
# These read settings or load libraries before they answer, open sockets, or write (the JVM its performance data).
_VERSIONED_CONFINED = names("deno java javac php pip pip3 ruby sqlite3 uv")
_VERSIONED_BY_FOLDER = names("curl docker gradle mvn npm wget")
_VERSIONS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(names("git docker npm"), names("version")),
    **dict.fromkeys(names("node perl ruby php gcc g++ clang npm"), names("-v")),
    **dict.fromkeys(names("python python3"), names("-V")),
    **dict.fromkeys(names("java javac"), names("-version")),
}


def version_level(program: str, args: Args) -> Level | None:
    """The level of a program that is only asked for its version; None for every other command."""
    if len(args) != 1 or not args[0].exact:
        return None
    if args[0].text != "--version" and args[0].text not in _VERSIONS.get(program, ()):
        return None
    if program in _VERSIONED_BY_FOLDER:
        return Level.READS
    if program in _VERSIONED_CONFINED:
        return Level.CONFINED
    return Level.STRICT if program in _VERSIONED else None
