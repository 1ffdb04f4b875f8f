"""Python scripts that use nothing but a short list of modules, names and attributes, none of which loads other code.

The lists are allow-lists: a script with any other import, builtin or attribute may load or start something.
"""

import ast
import builtins
import os
import sys
from collections.abc import Iterator, Mapping

from pilothouse.sandbox.shell.options import names

MAX_FOLDER_ENTRIES = 5000
# What a script may import, by module. No name here loads code, reads attributes by name or opens files.
_MODULES: Mapping[str, frozenset[str]] = {
    "__future__": names("annotations division print_function"),
    "base64": names("b64encode b64decode urlsafe_b64encode urlsafe_b64decode"),
    "bisect": names("bisect bisect_left bisect_right insort"),
    "collections": names("Counter OrderedDict defaultdict deque"),
    "csv": names("DictReader DictWriter reader writer"),
    "datetime": names("date datetime time timedelta timezone"),
    "decimal": names("Decimal ROUND_HALF_UP ROUND_HALF_EVEN"),
    "fractions": names("Fraction"),
    "functools": names("cache cmp_to_key lru_cache partial reduce"),
    "hashlib": names("md5 sha1 sha256 sha512"),
    "heapq": names("heapify heappop heappush nlargest nsmallest"),
    "itertools": names("accumulate chain combinations count cycle groupby islice permutations product repeat"),
    "json": names("dump dumps load loads JSONDecodeError"),
    "math": names("ceil cos e exp floor gcd hypot inf isclose isnan log log10 log2 nan pi pow prod sin sqrt tan tau"),
    "operator": names("add itemgetter mul sub"),
    "pprint": names("pformat pprint"),
    "random": names("choice randint random sample seed shuffle uniform"),
    "re": names("DOTALL IGNORECASE MULTILINE compile escape findall finditer fullmatch match search split sub"),
    "statistics": names("mean median mode pstdev stdev"),
    "string": names("ascii_letters ascii_lowercase ascii_uppercase digits punctuation whitespace"),
    "sys": names("argv exit maxsize stderr stdin stdout version version_info"),
    "textwrap": names("dedent fill indent shorten wrap"),
    "time": names("monotonic perf_counter sleep strftime time"),
    "typing": names("Any Callable Dict Iterable Iterator List Mapping Optional Sequence Set Tuple Union"),
}
_BUILTINS = names(
    """
    False None True abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float
    format frozenset hash hex int isinstance issubclass iter len list map max min next object oct ord pow print range
    repr reversed round set slice sorted str sum tuple zip
    ArithmeticError AssertionError Exception IndexError KeyError KeyboardInterrupt LookupError NotImplementedError
    OSError OverflowError RuntimeError StopIteration SystemExit TypeError ValueError ZeroDivisionError
    __name__
    """
)
_METHODS = names(
    """
    add append appendleft capitalize center clear copy count decode difference discard elements encode end endswith
    extend find flush format get group groupdict groups hexdigest index insert intersection isalnum isalpha isdigit
    isoformat isspace issubset issuperset items join keys ljust lower lstrip most_common partition pop popleft
    quantize read readline readlines remove replace reverse rfind rjust rpartition rsplit rstrip setdefault sort span
    split splitlines start startswith strip strptime symmetric_difference timestamp title today total_seconds
    translate union update upper utcnow values write writelines writerow writerows year month day hour minute second
    now fromisoformat fromtimestamp zfill
    """
)
_ATTRIBUTES = _METHODS.union(*_MODULES.values())
# Builtins of Python 2, which may be the one that runs the script.
_OLD_BUILTINS = names("apply buffer coerce execfile file input intern raw_input reload")
_REFUSED_NAMES = (frozenset(dir(builtins)) | _OLD_BUILTINS) - _BUILTINS
# A class pattern reads attributes by names that its class holds.
_REFUSED_NODES = (ast.MatchClass,)
_NEVER_IMPORTED = names("test this antigravity idlelib turtledemo lib2to3")
_STANDARD_MODULES = (sys.stdlib_module_names | names("sre_compile sre_constants sre_parse")) - _NEVER_IMPORTED
_OWN_FILES = names("__init__ __main__ __pycache__")


def is_self_contained(data: bytes) -> bool:
    """Whether a script runs no other code than its own and that of the listed modules."""
    try:
        nodes = list(ast.walk(ast.parse(data)))
    except (SyntaxError, ValueError, RecursionError, MemoryError, LookupError):
        return False
    bound = frozenset(name for node in nodes for name in _bound_names(node))
    return bound.isdisjoint(_REFUSED_NAMES) and all(_is_listed(node, bound) for node in nodes)


def _is_listed(node: ast.AST, bound: frozenset[str]) -> bool:
    match node:
        case ast.Import(names=aliases):
            return all(alias.name in _MODULES for alias in aliases)
        case ast.ImportFrom(module=module, level=level, names=aliases):
            return level == 0 and all(alias.name in _MODULES.get(module or "", ()) for alias in aliases)
        case ast.Name(id=name):
            return name in _BUILTINS or (name in bound and not name.startswith("__"))
        case ast.Attribute(attr=name, ctx=ast.Load()):
            return name in _ATTRIBUTES
        case ast.Attribute():
            return False
        case _:
            return not isinstance(node, _REFUSED_NODES)


def _bound_names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
            yield name
        case ast.alias(name=name, asname=asname):
            yield asname or name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name


def shadowing_modules(folder: str) -> list[str] | None:
    """Entries of a folder that Python may load in the place of its own modules when it runs a script there: the folder
    of the script comes first on the path of modules. None for a folder with too many entries to say."""
    found: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries):
                if number == MAX_FOLDER_ENTRIES:
                    return None
                if _may_shadow(entry.name):
                    found.append(entry.name)
    except OSError:
        return None
    return sorted(found)


def _may_shadow(entry: str) -> bool:
    """Modules whose names begin with `_` belong to the library; which ones there are differs between versions."""
    module = entry.partition(".")[0]
    is_standard = module in _STANDARD_MODULES or (module.startswith("_") and module not in _OWN_FILES)
    return is_standard and (entry.endswith((".py", ".pyc", ".so")) or "." not in entry)
