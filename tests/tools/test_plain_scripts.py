"""Scripts, Makefiles and words of programs that only an allow-list tells from plain ones."""

import os
import subprocess
from pathlib import Path

import pytest

from pilothouse.tools.builtin import makefiles, python_scripts
from tests.tools.test_plain_lines import basis, may_change

PYTHON_LOADS = (
    *("from os import *\nsystem('./x')", "from math import *", "import os\nos.listdir('.')", "import os.path"),
    *("import builtins\nbuiltins.exec(open('f').read())", "from builtins import exec as r\nr('1')", "open('f')"),
    *("import pydoc\npydoc.importfile('f.py')", "import logging.config\nlogging.config.dictConfig({})"),
    "import operator, os\noperator.attrgetter('sys' + 'tem')(os)('./x')",
    *("from operator import attrgetter", "import operator\noperator.attrgetter('x')"),
    "import sqlite3\nsqlite3.connect(':memory:').load_extension('./x')",
    *("import json\njson.codecs.open('f')", "import json\nj = json\nj.decoder", "import random\nrandom._os"),
    *("import collections\ncollections._sys.modules['os']", "import sys\nsys.path.append('lib')"),
    *("import sys\nsys.modules['os']", "from sys import modules", "from sys import path as argv"),
    *("getattr(1, 're' + 'al')", "print((1).__class__)", "__builtins__", "__loader__", "__import__('x')", "vars()"),
    *("if 0:\n    exec = 1\nexec('1')", "def f(open): pass\nopen('f')", "global eval\neval('1')", "execfile('f')"),
    "import sys\nmatch sys:\n    case object(modules=found):\n        print(found['os'])",
    "import sys\nclass A: pass\nsys.stdout = A()",
    *("from functools import update_wrapper", "import functools\nfunctools.wraps(print)", "from . import json"),
    *("import subprocess", "import helper", "import json.tool", "from json import tool", "input()", "unknown()"),
    *("class A:\n    codecs = 1\nimport json\njson.codecs", "import requests", "def f(:", "import importlib"),
)
PYTHON_PLAIN = (
    "print('hello')",
    "import json, sys\nprint(json.dumps(sys.argv))",
    "from collections import Counter\nfor word, count in Counter('a b'.split()).most_common(3):\n    print(word)",
    "from __future__ import annotations\nimport re\n\ndef main() -> int:\n    return len(re.findall('a', 'aa'))\n\n"
    "if __name__ == '__main__':\n    raise SystemExit(main())",
    "import datetime as d\nprint(d.datetime.now().isoformat())",
    "try:\n    print(1 / 0)\nexcept ZeroDivisionError as error:\n    print(error)",
    "import math\nprint([math.sqrt(x) for x in range(3)], f'{math.pi:.2f}', (lambda y: y)(1))",
)


@pytest.mark.parametrize("script", PYTHON_LOADS)
def test_a_python_script_with_anything_unlisted_is_not_self_contained(script: str) -> None:
    assert not python_scripts.is_self_contained(script.encode())


@pytest.mark.parametrize("script", PYTHON_PLAIN)
def test_an_ordinary_python_script_is_self_contained(script: str) -> None:
    assert python_scripts.is_self_contained(script.encode())


@pytest.mark.parametrize("name", ["json.py", "json", "json.cpython-311-x86_64-linux-gnu.so", "_json.py", "re.pyc"])
def test_a_file_beside_a_python_script_that_shadows_the_library_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / "sub").mkdir()
    script = tmp_path / "sub/tool.py"
    script.write_text("import json\nprint(json.dumps(1))\n")
    (tmp_path / "sub/helper.py").write_text("")
    assert not may_change(tmp_path, "python3 sub/tool.py")
    (tmp_path / "sub" / name).write_text("")
    assert may_change(tmp_path, "python3 sub/tool.py")
    (tmp_path / "link.py").symlink_to(script)
    assert may_change(tmp_path, "python3 link.py")  # Python takes the folder of the file behind the link


def test_a_python_module_or_a_script_without_its_first_line_is_told(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/tool.py").write_text("import json\n")
    (tmp_path / "json.py").write_text("")
    assert may_change(tmp_path, "python3 -m pkg.tool")
    shown = basis(tmp_path, "python3 -m pkg.tool")
    (tmp_path / "json.py").unlink()
    assert not may_change(tmp_path, "python3 -m pkg.tool")
    assert basis(tmp_path, "python3 -m pkg.tool").partition(":")[0] != shown.partition(":")[0]
    (tmp_path / "tool.py").write_text("import json\n")
    assert not may_change(tmp_path, "python3 -m tool")
    (tmp_path / "odd.py").write_text('"""\nexec(open("f").read())\n""" """ """\n')
    assert not may_change(tmp_path, "python3 odd.py")
    assert may_change(tmp_path, "python3 -x odd.py")


MAKEFILES_THAT_RUN_MORE = (
    *("CC = ./evil.sh\nfoo: foo.c\n", "foo: foo.c\n", "foo:\n", "all: foo\n\techo x\n", "%.o: %.c\n\techo x\n"),
    *(".c.o:\n\techo x\n", ".DEFAULT:\n\techo x\n", "PATH = .\nall:\n\tmkdir x\n", "SHELL=./x\nall:\n\techo x\n"),
    *("X = | ./evil.sh\nall:\n\techo $(X)\n", "all:\n\techo $X\n", "all:\n\techo ${shell ./x}\n"),
    *("-include x.mk\nall:\n\techo x\n", "all: CC=./x\nall:\n\techo x\n", ".ONESHELL:\nall:\n\techo x\n"),
    *(
        "all:\n\tx\\\n/evil.sh\n",
        "# \\\nall:\n\techo x\n",
        "all:\n\techo x\v./evil\n",
        "MAKEFLAGS += -e\nall:\n\techo\n",
    ),
    *("Makefile:\n\techo x\n", "all:: x\n\techo x\n", "a b &: \n\techo x\n", "all: ; ./x\n", "\techo x\n"),
    *(
        "all: lib(x.o)\n\techo x\n",
        "export V\nall:\n\techo x\n",
        "define V\nall:\n\techo x\n",
        "V != ./x\nall:\n\techo\n",
    ),
    "all:\n\techo x\ninclude : x.mk\n\techo x\nx.mk:\n\techo x\n",
    "all:\n\techo x\nload b: all\n\techo x\nb:\n\techo x\n",
    *("all:\n\t./x\n", "all:\n\tpython3 tool.py\n", "V = 1\n\techo x\n", "all: $(wildcard *)\n\techo x\n"),
)
PLAIN_MAKEFILES = (
    "all:\n\techo x\n",
    "# remark\nV ?= 0\n.PHONY: all clean\nall: out\n\nout:\n\t@mkdir -p out\n\t-echo $$HOME\nclean:\n\trm -rf out\n",
)


def test_make_runs_a_program_that_only_its_own_rules_lead_to(tmp_path: Path) -> None:
    """The behaviour of make against which Makefiles are read."""
    (tmp_path / "Makefile").write_text("CC = ./evil.sh\nfoo: foo.c\n")
    (tmp_path / "foo.c").write_text("")
    (tmp_path / "evil.sh").write_text("#!/bin/sh\ntouch ran\n")
    (tmp_path / "evil.sh").chmod(0o755)
    subprocess.run(["make", "-C", str(tmp_path)], check=True, capture_output=True, timeout=60)
    assert (tmp_path / "ran").exists()
    assert may_change(tmp_path, "make")


@pytest.mark.parametrize("text", MAKEFILES_THAT_RUN_MORE)
def test_a_makefile_with_anything_but_plain_recipes_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "Makefile").write_text(text)
    assert may_change(tmp_path, "make")


@pytest.mark.parametrize("text", PLAIN_MAKEFILES)
def test_a_makefile_whose_targets_have_plain_recipes_is_silent(tmp_path: Path, text: str) -> None:
    (tmp_path / "Makefile").write_text(text)
    for line in ("make", "make all", "make V=1 -j2", "make -B all"):
        assert not may_change(tmp_path, line), line
    for line in ("make foo", "make PATH=sub", "make LD_PRELOAD=x.so", "make CC=evil", "make -e", "make -f -"):
        assert may_change(tmp_path, line), line


def test_goals_and_options_of_make_are_told_apart() -> None:
    assert makefiles.read_goals(("make", "-C", "sub", "-j4", "all", "V=1", "out/x")) == ("all", "out/x")
    assert makefiles.read_goals(("make", "-W", "x")) is None


def test_tar_runs_a_program_that_old_style_options_name(tmp_path: Path) -> None:
    """The behaviour of tar against which its words are read."""
    (tmp_path / "evil.sh").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    (tmp_path / "evil.sh").chmod(0o755)
    subprocess.run(["tar", "cf", "a.tar", "evil.sh"], cwd=tmp_path, check=True, timeout=60)
    subprocess.run(["tar", "tIf", "./evil.sh", "a.tar"], cwd=tmp_path, check=False, capture_output=True, timeout=60)
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "line",
    [
        *("tar xIf ./evil.sh a.tar", "tar xfI a.tar ./evil.sh", "tar cfF a.tar ./evil.sh x", "tar tIf ./evil.sh a.tar"),
        *("tar a.tar", "tar", "tar evil.sh xf", "ar xI ./evil.sh", "tar xf a.tar -I./evil.sh"),
        *("curl -Kx u", "curl -sK x u", "curl --conf x u", "curl --eng ./x u", "curl -E pkcs11:x u", "curl $x"),
        *("node alone.js", "perl plain.pl", "ruby x.rb", "php x.php", "lua x.lua"),
    ],
)
def test_words_that_name_a_program_are_told(tmp_path: Path, line: str) -> None:
    for name in ("evil.sh", "a.tar", "alone.js", "plain.pl", "x.rb", "x.php", "x.lua", "x"):
        (tmp_path / name).write_text('[]["fil"+"ter"]["constr"+"uctor"]("1")()\n' if name == "alone.js" else "1\n")
    assert may_change(tmp_path, line)


@pytest.mark.parametrize(
    "line",
    [
        *("tar xf a.tar", "tar czf a.tgz x -C sub", "tar -xzf a.tgz", "curl -sSfL -o x https://example.org/"),
        *("curl -XPOST -d x=1 --header 'A: b' http://localhost/", "zip -r a.zip x"),
    ],
)
def test_words_that_name_no_program_are_silent(tmp_path: Path, line: str) -> None:
    assert not may_change(tmp_path, line)


@pytest.mark.parametrize(
    "text",
    [
        *("curl --engine ./x u", "find . -execdir rm {} +", "cp -r evil/. .", 'cat x > "$1"', 'cat x >> "$y.sh"'),
        *('cp x "$y"', "cat other > tool.sh", "tar xf a.tar", "cat x > '*'.sh\ncat x >$y"),
    ],
)
def test_a_shell_script_that_loads_or_may_replace_itself_is_told(tmp_path: Path, text: str) -> None:
    script = tmp_path / "tool.sh"
    script.write_text(f"#!/bin/sh\n{text}\n")
    script.chmod(0o755)
    assert may_change(tmp_path, "./tool.sh")


def test_programs_that_tar_starts_must_not_lie_in_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    assert may_change(tmp_path, "tar xzf a.tgz", f"{tmp_path}/bin:{os.defpath}")
