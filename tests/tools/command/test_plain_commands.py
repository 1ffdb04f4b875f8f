"""The card has no warning only for command lines known to be plain: only the line and the compared files decide
what they run."""

import os
import subprocess
from pathlib import Path

import pytest

from pilothouse.domain.calls import PARTIAL_HASH_SUFFIX
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.shell import classify
from pilothouse.tools.command.command_files import inspect_files

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
FILES = {
    "README": "text\n",
    "data.csv": "a,b\n",
    "plain.sh": "#!/bin/sh\nset -e\nmkdir -p out\necho done > out/x\n",
    "bare": "echo no first line\n",
    "calls.sh": "#!/bin/sh\n./other.sh\n",
    "sources.sh": "#!/bin/bash\n. ./settings.sh\n",
    "named.sh": "#!/bin/sh\nhelper --now\n",
    "nested.sh": "#!/bin/sh\npython3 tool.py\n",
    "hidden.sh": "#!/bin/sh\n$RUN x\n",
    "odd": "#!/usr/bin/env -S python3 -c\nimport x\n",
    "local": "#!./interpreter\nx\n",
    "itself.sh": "#!/bin/sh\ncp other.sh itself.sh\n",
    "itself-too.sh": '#!/bin/sh\ncat other.sh > "$0"\n',
    "other.sh": "#!/bin/sh\necho other\n",
    "program": "\x7fELF\0\0",
    "tool.py": "import json, sys\nprint(json.dumps(sys.argv))\n",
    "siblings.py": "import helper\n",
    "relative.py": "from . import helper\n",
    "inner.py": "def f():\n    import helper\n",
    "third.py": "import requests\n",
    "runs.py": "import subprocess\nsubprocess.run(['./x'])\n",
    "system.py": "import os\nos.system('./x')\n",
    "exec.py": "exec(open('helper.py').read())\n",
    "loads.py": "import sys\nsys.path.insert(0, 'lib')\n",
    "helper.py": "x = 1\n",
    "tool": "#!/usr/bin/env python3\nprint(1)\n",
    "alone.js": "console.log(1)\n",
    "requires.js": "require('./lib')\n",
    "imports.mjs": "import x from './lib.mjs'\n",
    "plain.pl": "print 1;\n",
    "uses.pl": "use lib 'lib'; use Helper;\n",
    "Makefile": "V ?= 0\nall: out\n\t@echo building\nout:\n\tmkdir -p out\n",
    "including/Makefile": "include rules.mk\nall:\n\techo x\n",
    "running/Makefile": "test:\n\tpython3 -m pytest\n",
    "variable/Makefile": "all:\n\t$(CC) -o x x.c\n",
    "inline/Makefile": "all: ; ./run.sh\n",
    "shelled/Makefile": "X := $(shell ./x)\nall:\n\techo $(X)\n",
    "prefixed/Makefile": ".RECIPEPREFIX = >\nall:\n> ./x\n",
    "remade/Makefile": "all:\n\techo x\n",
    "remade/Makefile.sh": "all:\n\t./x\n",
    "dollars/Makefile": "all:\n\techo $$(./x)\n",
    "other.mk": "all:\n\techo other\n",
    "package.json": '{"scripts": {"hello": "echo hello", "build": "tsc", "test": "node --test", "a": "true", '
    '"prea": "./x"}}',
    "script.awk": 'BEGIN { system("./x") }\n',
    "tests/test_x.py": "def test(): pass\n",
    "conftest.py": "",
    "Cargo.toml": "[package]\n",
    "Dockerfile": "FROM x\n",
    "go.mod": "module x\n",
    "pyproject.toml": "[project]\n",
    "build.gradle": "",
    "gradlew": "#!/bin/sh\nexec java -jar gradle/wrapper/gradle-wrapper.jar\n",
    "tsconfig.json": "{}",
    "justfile": "all:\n  echo x\n",
    "node_modules/.bin/tsc": "#!/usr/bin/env node\nrequire('../lib/tsc.js')\n",
    ".venv/bin/pytest": "#!/work/.venv/bin/python\nimport pytest\n",
    ".venv/bin/python": "#!/bin/sh\nexec /usr/bin/python3\n",
    ".envrc": "export PATH=.\n",
    "flake.nix": "{}",
    "noxfile.py": "",
    "sub/plain.sh": "#!/bin/sh\necho sub\n",
}

PLAIN = (
    *("ls", "ls -la sub", "git status", "git add README", "git add -A", "git commit -m 'a message'"),
    *("git diff", "git log --oneline -5", "git switch -c topic", "git tag v1", "git fetch origin"),
    *("git push origin main", "git push", "git pull --rebase", "git stash", "git checkout -b x"),
    *("git merge topic", "git rebase main", "mkdir -p a/b", "rm -rf out", "cp README copy", "mv README text"),
    *("echo x > new", "date", "touch x", "pwd", "cat README | grep text | wc -l", "sort data.csv | uniq -c"),
    *("head -3 README", "tail -f README", "which ls", "find . -name '*.py'", "find . -name '*.tmp' -delete"),
    *("find . -name x -exec rm {} +", "ls | xargs rm", "sed -n 1,5p README", "sed -i s/a/b/ README"),
    *("awk '{print $1}' data.csv", "chmod +x plain.sh", "ln -s a b", "tar czf a.tgz sub", "tar xf a.tgz"),
    *("zip -r a.zip sub", "curl -s http://localhost/", "sleep 1", "true", "env LC_ALL=C ls", "time ls"),
    *("nice -n 5 ls", "timeout 5 ls", "cd $HOME && ls", "echo $HOME", "bash -c 'ls; date'", "git log | head -3"),
    *("git add .", "git restore .", "git checkout .", "git add . && git commit -m 'a message' && git push"),
    *("git fetch && git status", "git checkout -b x && git push -u origin x", "cd sub && git status", "git -C sub log"),
    *("time make", "timeout 60 python3 tool.py", "DEBUG=1 npm test", "CI=1 make test", "cd sub && time ./plain.sh"),
    *("make 2>&1 | tail -20", "./plain.sh 2>/dev/null | grep x | head", "npm test &> /dev/null", "cat README | ./bare"),
    *("cp README copy && cat copy", "ls > out; cat out", "sed -i s/a/b/ README && cat README", "echo x | tee new"),
    *("mkdir -p new && touch new/x && ls new", "curl -s http://x | head", "chmod +x plain.sh && ls -l"),
    *("python3 tool.py -m x", "npm run start:now", "cat <<'E' > new\nx\nE"),
    *("pip list", "pip show requests", "/bin/ls", "/usr/bin/git status", "printf x"),
    *("test -f README && echo yes", "for f in *.py; do wc -l $f; done", "git -C . status"),
    *("git --no-pager log", 'git commit -m "$message"', "git rev-parse HEAD", "git remote -v"),
    *("diff README data.csv", "wc -l *.py", "./plain.sh", "sh plain.sh", "bash plain.sh x", "./bare"),
    *("cd sub && ./plain.sh", "python3 tool.py", "python3 -u tool.py README", "./tool"),
    *("make", "make all", "make V=1", "make -j4 out", "npm run hello", "npm run -s hello", "./calls.sh", "sh calls.sh"),
    *("./sources.sh", "./named.sh", "./nested.sh", "./hidden.sh", "./odd", "./local", "./itself.sh"),
    *("./itself-too.sh", "./program", "python3 siblings.py", "python3 relative.py", "python3 inner.py"),
    *("python3 third.py", "python3 runs.py", "python3 system.py", "python3 exec.py", "python3 loads.py"),
    *("node requires.js", "node imports.mjs", "perl plain.pl", "node alone.js", "perl uses.pl"),
    *("npm run build", "npm test", "npm run a", "npm run missing", "node_modules/.bin/tsc"),
    *("./node_modules/.bin/tsc", ".venv/bin/pytest", "./gradlew build", "bash -e calls.sh"),
)
UNCERTAIN = (
    *("sh -c 'ls; date'", "sh -c ./plain.sh", "sh -c ./calls.sh", "mkdir -p new && git add new", "npm start"),
    *("echo x > new && git add new && git commit -m x", "git status && ./plain.sh", "git diff | ./plain.sh"),
    *("git log; make", "mkdir build && make", "python3 -m tool", "make; make", "make & ls", "(make)", "! make"),
    *("make > log", "make | tee log", "make < README", "make && ls", "if make; then ls; fi", "make\nls", "make #x"),
    *("CC=sub make", "x=1 make", "LC_ALL=C make", "cd sub/.. && cd sub && ./plain.sh", "cd sub; ./plain.sh"),
    *(
        "cd sub && ./plain.sh & ls",
        "cd s*b && ./plain.sh",
        "cd 'sub' && ./plain.sh",
        "cd .. && ./plain.sh",
        "./program x",
    ),
    *("/proc/self/cwd/plain.sh", "sh /proc/self/cwd/plain.sh", "sh /dev/fd/0", "sh /dev/stdin", "/lib64/ld-linux.so x"),
    *("history -w new; ls", "echo x > /usr/local/bin/ls; ls", "cp README ../x && ls", "ln -s .. a; ls", "mv sub x; ls"),
    *(
        "cp -r sub x; ls",
        "cp -tsub README; ls",
        "cp README sub; ls",
        "echo x > $y; ls",
        "curl -so plain.sh http://x; ls",
    ),
    *("git push --repo=../other", "git push -o origin ../other", "git push file:///srv/other", "git push foo://x/y"),
    *("git diff --output=.git/hooks/pre-commit; git commit", "git mv a b; git commit", "git fetch -j 4 origin"),
    *("git worktree add ../x && git status", "cd sub && git pull && git status", "git -C sub add x && git status"),
    *(
        "for x in 1 2; do git -C sub pull; done",
        "git status | xargs git add",
        "git status && cp a b",
        "git add x; cd sub",
    ),
    *("ls | xargs ./plain.sh", "nice -n 5 ./plain.sh", "find . -name x -exec ./plain.sh {} +"),
    *("tar xf a.tar && git commit -m x", "cp -t. x/y && git commit -m x", "unzip -o a.zip; git commit -m x"),
    *("tar xIf ./x a.tar", "gunzip -kf x.gz && git commit", "curl -sO http://x/y && git merge x"),
    *("./plain.sh && python3 tool.py", "git rebase --continue", "curl --engine ./x u", "./missing"),
    *("sh missing", ". ./plain.sh", "source plain.sh", "bash < plain.sh", "cat plain.sh | sh"),
    *("python3 -c 'import helper'", "python3 -m pytest", "python3 -m json.tool README", "python3 -i tool.py"),
    *("python3 tests", "python3 .", "python3 - < tool.py", "echo x | python3", "node ."),
    *("node -r ./x alone.js", "node -e 1", "perl -MHelper plain.pl", "ruby -r./x plain.rb", "php x.php"),
    *("lua x.lua", "tsx x.ts", "make -C including", "make -C running", "make -C variable", "make -C inline"),
    *("make -C shelled", "make -C prefixed", "make -C remade", "make -C dollars", "make -f missing.mk"),
    *("make -f other.mk", "make SHELL=./x", "make --eval=x:", "make -I sub", "make MAKEFILES=x.mk"),
    *("make CC=./cc", "make -f $x", "CC=./cc make", "MAKEFLAGS=-fx make", "npm install", "npm ci"),
    *("npm exec x", "npx tsc", "npx -y x", "pnpm run hello", "yarn hello", "bun run hello"),
    *("npm run hello -w other", "npm run hello -- x", "npm --prefix sub run hello", "tsc", "pytest"),
    *("pytest -q tests", ".venv/bin/python tool.py", "py.test", "tox", "nox", "uv run x", "poetry run x"),
    *("pip install .", "pip install -e .", "pip install x", "pipx run x", "uvx ruff", "ruff check"),
    *("cargo build", "cargo test", "cargo run", "go build", "go test ./...", "docker build ."),
    *("docker compose up", "gradle build", "mvn test", "just", "just all", "cmake .", "ninja", "rake"),
    *("bundle exec x", "direnv allow", "direnv exec . ls", "nix develop", "nix-shell", "nix run", "mise run x"),
    *("asdf exec x", "pyenv exec python", "env ./calls.sh", "env -S './x'", "env PATH=. ls", "PATH=. ls"),
    *("PATH=sub:$PATH ls", "export PATH=.; ls", "LD_PRELOAD=./x.so ls", "PYTHONPATH=. python3 tool.py"),
    *("BASH_ENV=./x bash plain.sh", "NODE_OPTIONS=--require=./x node alone.js", "PERL5OPT=-Mx perl plain.pl"),
    *("PYTHONSTARTUP=x python3 tool.py", "find . -exec ./calls.sh {} \\;", "find . -execdir ./plain.sh \\;"),
    *("find . -execdir rm {} +", "find . -exec sh {} \\;", "ls | xargs sh", "xargs -I{} sh -c {} < README"),
    *("ls | parallel ./x", "watch ./x", "sh -c '. ./x'", "bash -lc ls", "bash -ic ls", "zsh plain.sh"),
    *("zsh -c ls", "fish plain.sh", 'eval "$x"', "eval ./calls.sh", "alias ls=./x; ls", "ls() { ./x; }; ls"),
    *("trap ./x EXIT", "exec ./calls.sh", "ssh host ls", "scp a host:b", "vim -c ':!x' README", "vim README"),
    *("vi -S x", "emacs --batch -l x", "less README", "man ./x", "tar --to-command=./x -xf a.tar"),
    *("tar -I ./x -xf a.tar", "tar cf a.tar --checkpoint-action=exec=./x .", "tar xf host:a.tar"),
    *("rsync -e ./x a b", "rsync a host:b", "rsync --rsync-path=./x a b", "zip -TT ./x a.zip b"),
    *("sed '1e ./x' README", "sed -i 's/a/.\\/x/e' README", "sed -f x.sed README", "awk -f script.awk README"),
    *("awk 'BEGIN { system(\"./x\") }'", "awk '{ print | \"./x\" }' README", "gdb -x x", "strace ./plain.sh"),
    *("sort --compress-program=./x README", "split --filter=./x README", "install -s --strip-program=./x a b"),
    *("git -c core.pager=./x log", "git -c alias.x='!./x' x", "git x", "git lfs pull"),
    *("git submodule foreach ls", "git submodule update", "git bisect run ./x", "git rebase -x ./x main"),
    *("git rebase --exec=./x main", "git difftool", "git mergetool", "git grep -O./x text"),
    *("git push ../other main", "git push /srv/other main", "git push elsewhere main", "git fetch 'ext::./x'"),
    *("git fetch --upload-pack=./x origin", "git push --rec=./x", "git filter-branch --tree-filter ./x"),
    *("git config core.pager ./x", "git config alias.x '!./x'", "git --exec-path=. status"),
    *("git --git-dir=sub status", "GIT_DIR=sub git status", "GIT_SSH_COMMAND=./x git fetch"),
    *("EDITOR=./x git commit", "git clone ../other", "git -C $x status", "cd $x && git status"),
    *("git svn fetch", "bash -o x plain.sh", "bash -e", "bash -e $x", "bash -s plain.sh"),
    *("bash --rcfile x plain.sh", "git stash && ./plain.sh", "git log --output=plain.sh && ./plain.sh"),
    *("git status $x && ./plain.sh", "cp calls.sh plain.sh && ./plain.sh"),
    *("mv calls.sh plain.sh && sh plain.sh", "echo ./x > plain.sh; ./plain.sh"),
    *("curl -o plain.sh http://x && sh plain.sh", "git pull && ./plain.sh", "git checkout x && make"),
    *("tar xf a && ./plain.sh", "sed -i s/a/b/ plain.sh && ./plain.sh", "ln -sf calls.sh plain.sh; ./plain.sh"),
    *("rm -r sub; cp -r x sub; sub/plain.sh", "cp $x plain.sh; ./plain.sh", "chmod +x calls.sh && ./calls.sh"),
    *("patch -p1 < a.patch && make", "tee plain.sh < x; sh plain.sh", "sudo ls", "su -c ls", "doas ls"),
    *("nohup ./calls.sh", "setsid ./calls.sh", "unknown-program", "$x", "sh *.sh", "crontab x", "at now -f x"),
    *("systemd-run ./x", "expect x", "script -c ./x", "flock x ./x", "busybox sh plain.sh", "coproc ./x"),
    *("gcc -fplugin=./x a.c", "cc -B. a.c", "ld -T x", "psql -f x.sql", "sqlite3 a.db .read x", "mysql < x"),
    *("java -jar x.jar", "terraform apply", "ansible-playbook x.yml", "vagrant up", "kubectl apply -f x"),
    *("helm install x", "pre-commit run"),
)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    root = tmp_path / "project"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    git(root, "init", "-q", "-b", "main")
    git(root, "remote", "add", "origin", "https://example.org/x.git")
    return root


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)


def may_change(root: Path, line: str, path: str = SYSTEM_PATH) -> bool:
    return content_hash(root, line, path).endswith(PARTIAL_HASH_SUFFIX)


def content_hash(root: Path, line: str, path: str = SYSTEM_PATH) -> str:
    return inspect_files(
        classify(line), str(root), root.stat(), CommandEnvironment.of({"PATH": path}), root=str(root)
    ).content_hash


def test_plain_lines_are_shown_without_a_warning(workspace: Path) -> None:
    assert [line for line in PLAIN if may_change(workspace, line)] == []


def test_every_other_line_says_that_files_can_still_change(workspace: Path) -> None:
    assert len(UNCERTAIN) > 100
    assert [line for line in UNCERTAIN if not may_change(workspace, line)] == []


SETTINGS = (
    *(("core.pager", "./x"), ("core.editor", "./x"), ("core.sshCommand", "./x"), ("core.fsmonitor", "./x")),
    *(("core.hooksPath", "hooks"), ("alias.x", "!./x"), ("diff.external", "./x"), ("include.path", "../x")),
    *(("filter.x.clean", "./x"), ("merge.x.driver", "./x"), ("credential.helper", "./x"), ("gpg.program", "./x")),
    *(("remote.origin.url", "../other"), ("remote.origin.uploadpack", "./x"), ("core.attributesFile", "x")),
    *(("url.ext::./x.insteadOf", "https://"), ("submodule.a.update", "!./x"), ("extensions.worktreeConfig", "true")),
    *(("branch.main.remote", "../other"), ("core.worktree", "../other"), ("sequence.editor", "./x")),
)


@pytest.mark.parametrize(("key", "value"), SETTINGS)
def test_settings_of_git_that_name_programs_or_files_are_reported(workspace: Path, key: str, value: str) -> None:
    git(workspace, "config", key, value)
    for line in ("git status", "git commit -m x", "git push", "git log"):
        assert may_change(workspace, line), line


@pytest.mark.parametrize("line", ["git status", "git commit -m x"])
def test_hooks_of_git_are_compared_and_submodules_reported(workspace: Path, line: str) -> None:
    hook = workspace / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    shown = content_hash(workspace, line)
    hook.write_text("#!/bin/sh\necho x\n")
    hook.chmod(0o755)
    assert not may_change(workspace, line)
    assert content_hash(workspace, line) != shown
    assert may_change(workspace, "git commit -m x && ./plain.sh"), "a hook may change the script"
    hook.unlink()
    assert not may_change(workspace, line)
    (workspace / ".gitmodules").write_text("")
    assert may_change(workspace, line)


@pytest.mark.parametrize("name", [".gitconfig", ".config/git/config"])
def test_hooks_configured_in_another_folder_are_reported(workspace: Path, name: str) -> None:
    path = Path(os.environ["HOME"]) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[core]\n\thooksPath = .githooks\n")
    assert may_change(workspace, "git commit -m x")


def program(path: Path, text: str = "#!/bin/sh\n") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return f"{path.parent}:{SYSTEM_PATH}"


def test_programs_that_read_their_version_from_the_folder_are_reported(workspace: Path, tmp_path: Path) -> None:
    """Shims of pyenv and asdf are scripts; those of mise, volta and rustup are links to the manager."""
    shims = program(tmp_path / "pyenv/shims/python3", "#!/usr/bin/env bash\nexec pyenv exec python3\n")
    scripts = program(tmp_path / "asdf/bin/python3", "#!/usr/bin/env bash\nexec asdf exec python3\n")
    mise = tmp_path / "mise/bin/mise"
    program(mise, "\x7fELF")
    (tmp_path / "links").mkdir()
    (tmp_path / "links/python3").symlink_to(mise)
    (tmp_path / "links/ls").symlink_to(mise)
    for path in (shims, scripts, f"{tmp_path}/links:{SYSTEM_PATH}"):
        assert may_change(workspace, "python3 --version", path)
    assert may_change(workspace, "ls", f"{tmp_path}/links:{SYSTEM_PATH}")
    installed = program(tmp_path / "venv/bin/python3", "\x7fELF")
    assert not may_change(workspace, "python3 --version", installed)


@pytest.mark.parametrize("manager", ["aqua-proxy", "corepack/dist/npm.js", "swiftly", "chooser", "python3-chooser/x"])
def test_a_link_to_a_program_of_another_name_may_read_its_version_from_the_folder(
    workspace: Path, tmp_path: Path, manager: str
) -> None:
    program(tmp_path / "managers" / manager, "\x7fELF")
    (tmp_path / "links").mkdir()
    for name in ("python3", "npm"):
        (tmp_path / "links" / name).symlink_to(tmp_path / "managers" / manager)
    path = f"{tmp_path}/links:{SYSTEM_PATH}"
    assert may_change(workspace, "python3 --version", path)
    assert may_change(workspace, "npm run hello", path)


@pytest.mark.parametrize("target", ["python3.12", "python", "python3-real", "busybox"])
def test_a_link_to_the_same_program_starts_that_program(workspace: Path, tmp_path: Path, target: str) -> None:
    program(tmp_path / "real" / target, "\x7fELF")
    (tmp_path / "links").mkdir()
    (tmp_path / "links/python3").symlink_to(tmp_path / "real" / target)
    assert not may_change(workspace, "python3 --version", f"{tmp_path}/links:{SYSTEM_PATH}")


@pytest.mark.parametrize(
    ("line", "shim"),
    [
        *(
            ("./tool", "python3"),
            ("cat README | ./tool", "python3"),
            ("npm run hello", "node"),
            ("egrep x README", "grep"),
        ),
        *(("zcat a.gz", "gzip"), ("ls | xargs", "echo"), ("tar czf a.tgz sub", "gzip"), ("git push", "ssh")),
    ],
)
def test_a_shim_that_another_program_starts_is_reported(workspace: Path, tmp_path: Path, line: str, shim: str) -> None:
    """The interpreter of a script, and the programs that installed ones start by name."""
    npm = program(tmp_path / "lib/npm", "#!/usr/bin/env node\n").partition(":")[0]
    path = f"{npm}:{SYSTEM_PATH}"
    program(tmp_path / "bin/node", "\x7fELF")
    assert not may_change(workspace, line, f"{tmp_path}/bin:{path}")
    shims = program(tmp_path / "asdf/shims" / shim, "#!/usr/bin/env bash\nexec asdf exec\n").partition(":")[0]
    assert may_change(workspace, line, f"{shims}:{tmp_path}/bin:{path}")


@pytest.mark.parametrize(
    "first_line", ["#!/usr/bin/env -S python3 -u", "#!{shims}/python3", "#!/usr/bin/env X=1 python3"]
)
def test_a_script_that_names_a_shim_in_its_first_line_is_reported(
    workspace: Path, tmp_path: Path, first_line: str
) -> None:
    shims = program(tmp_path / "asdf/shims/python3", "#!/usr/bin/env bash\nexec asdf exec\n").partition(":")[0]
    program(workspace / "named", first_line.format(shims=shims) + "\nprint(1)\n")
    assert may_change(workspace, "./named", f"{shims}:{SYSTEM_PATH}")


def test_programs_of_the_workspace_on_the_path_are_reported(workspace: Path) -> None:
    inside = program(workspace / "bin/ls")
    assert may_change(workspace, "ls", inside)
    assert may_change(workspace, "find . -exec ls {} +", inside)
    assert not may_change(workspace, "cat README", inside)
    for path in (f":{SYSTEM_PATH}", f".:{SYSTEM_PATH}", f"bin:{SYSTEM_PATH}"):
        assert may_change(workspace, "ls", path), path
    shown = content_hash(workspace, "cat README", inside)
    program(workspace / "bin/cat")
    assert content_hash(workspace, "cat README", inside) != shown


@pytest.mark.parametrize("name", ["GNUmakefile", "Makefile.sh", "Makefile,v", "SCCS/s.Makefile"])
def test_a_file_from_which_make_would_remake_its_makefile_changes_the_basis(workspace: Path, name: str) -> None:
    shown = content_hash(workspace, "make")
    (workspace / name).parent.mkdir(exist_ok=True)
    (workspace / name).write_text("all:\n\t./x\n")
    assert content_hash(workspace, "make").partition(":")[0] != shown.partition(":")[0]
