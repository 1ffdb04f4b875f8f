"""An approval card without a warning is a promise: no file that the line runs can be swapped after the card, or
replaced by the line itself. A card may warn, or the call may be stopped; both keep the promise."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pilothouse.domain.calls import PARTIAL_HASH_SUFFIX
from pilothouse.domain.codes import Code
from pilothouse.domain.errors import ToolError
from pilothouse.domain.git_configuration import is_address
from pilothouse.domain.value import CallId
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import ToolContext
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
SH = "#!/bin/sh\necho harmless\n"
Change = Callable[[Path], object]


class Project:
    """A workspace, and a mark that hostile code leaves when it runs."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.root = folder / "above" / "project"
        self.ran = folder / "RAN"
        self.hostile = f"#!/bin/sh\ntouch {self.ran}\n"
        self.python = f"open({str(self.ran)!r}, 'w')\n"
        self.node = f"require('fs').writeFileSync({str(self.ran)!r}, '')\n"
        self.path = SYSTEM_PATH
        self.home.mkdir()
        self.put("plain.sh", SH)
        self.put("sub/plain.sh", SH)
        self.put("tool.py", "print('harmless')\n")
        self.put("README", "text\n")

    def put(self, name: str, text: str, mode: int = 0o755) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def git(self, *arguments: str, folder: str = ".") -> None:
        (self.root / folder).mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", *arguments], cwd=self.root / folder, check=True, capture_output=True)

    def repository(self, remote: str | None = "https://example.org/x.git") -> None:
        self.git("init", "-q", "-b", "main")
        self.git("add", "README")
        self.git("commit", "-qm", "x")
        if remote is not None:
            self.git("remote", "add", "origin", remote)

    def hostile_settings(self, folder: str) -> None:
        self.git("init", "-q", folder=folder)
        self.git("config", "core.fsmonitor", f"touch {self.ran};:", folder=folder)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    project = Project(tmp_path)
    monkeypatch.setenv("HOME", str(project.home))
    (project.home / ".gitconfig").write_text("[user]\n\tname = a\n\temail = a@example.org\n")
    return project


async def breaks_promise(
    project: Project, line: str, change: Callable[[], object] = lambda: None, cwd: str = "."
) -> bool:
    """Whether the card is silent, and hostile code runs that a change after the card, or the line itself, put there."""
    environment = CommandEnvironment.of({"PATH": project.path, "HOME": str(project.home), "LANG": "C.UTF-8"})
    arguments, execute = ExecuteArguments(command=line, cwd=cwd), Execute()
    preview = await execute.prepare(arguments, Workspace(project.root, environment=environment))
    change()
    workspace = Workspace(project.root, environment=environment)
    context = ToolContext(call_id=CallId("call"), workspace=workspace, content_hash=preview.content_hash, seconds=20)
    refusal = None
    try:
        await execute.run(arguments, context)
    except ToolError as error:
        refusal = error.reason.code
    assert refusal in (None, Code.COMMAND_FILES_CHANGED)
    is_silent = preview.violation is None and not (preview.content_hash or "").endswith(PARTIAL_HASH_SUFFIX)
    return is_silent and project.ran.exists()


# Controls: a swapped file does not run without a warning on the card, and does with one.
@pytest.mark.parametrize("line", ["./plain.sh", "sh plain.sh", "cd sub && ./../plain.sh", "! ./plain.sh"])
async def test_control_a_swapped_script_does_not_run(project: Project, line: str) -> None:
    assert not await breaks_promise(project, line, lambda: project.put("plain.sh", project.hostile))
    assert not project.ran.exists()


async def test_control_a_swapped_module_behind_a_warning_runs(project: Project) -> None:
    project.put("helper.py", "")
    assert not await breaks_promise(
        project, "python3 -c 'import helper'", lambda: project.put("helper.py", project.python)
    )
    assert project.ran.exists()


# `-m` runs a module only as an option of Python itself.
@pytest.mark.parametrize(
    "line",
    [
        *("python3 -c 'import helper' -m tool", "echo 'import helper' | python3 - -m tool"),
        *("perl -e 'do q(./helper.pl)' x -m tool tool.py", "node -e 'require(`./helper.js`)' -- -m tool tool.py"),
    ],
)
async def test_an_option_m_behind_other_code_makes_no_line_plain(project: Project, line: str) -> None:
    texts = {"helper.py": project.python, "helper.js": project.node, "helper.pl": f"open(F, '>{project.ran}'); 1;"}
    for name in texts:
        project.put(name, "1;")

    def swap() -> None:
        for name, text in texts.items():
            project.put(name, text)

    assert not await breaks_promise(project, line, swap)


# The file that a command runs is in the folder in which the command runs.
@pytest.mark.parametrize(
    ("line", "decoy", "real"),
    [
        ("python3 -m unittest discover sub", "sub/unittest.py", "sub/test_x.py"),
        ("python3 -P -m unittest discover", "unittest.py", "test_x.py"),
        ("python3 -I -m unittest discover", "unittest.py", "test_x.py"),
        ("mkdir -p build && cd build && python3 ../x.py", "../x.py", "x.py"),
    ],
)
async def test_a_file_of_another_folder_is_not_the_one_that_runs(
    project: Project, line: str, decoy: str, real: str
) -> None:
    project.put(decoy, "x = 1\n")
    project.put(real, "x = 1\n")
    assert not await breaks_promise(project, line, lambda: project.put(real, project.python))


# Python runs compiled modules in place of their source.
@pytest.mark.parametrize(
    ("line", "compiled"),
    [
        ("python3 -m tool", "__pycache__/tool.{tag}.pyc"),
        ("python3 -m pkg", "pkg/__pycache__/__init__.{tag}.pyc"),
        ("python3 -m pkg", "pkg/__main__.pyc"),
        ("python3 -m pkg.part", "pkg/part.pyc"),
    ],
)
async def test_a_compiled_module_takes_no_compared_ones_place(project: Project, line: str, compiled: str) -> None:
    project.put("pkg/__init__.py", "")

    def compile_module() -> None:
        project.put("hostile.py", project.python)
        script = (
            "import py_compile, sys; tag = sys.implementation.cache_tag; "
            "py_compile.compile('hostile.py', cfile=sys.argv[1].format(tag=tag), "
            "invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)"
        )
        subprocess.run(["/usr/bin/python3", "-c", script, compiled], cwd=project.root, check=True)
        (project.root / "hostile.py").unlink()

    assert not await breaks_promise(project, line, compile_module)


# A line may write to names that only the shell knows.
@pytest.mark.parametrize(
    "line",
    [
        *(
            "{e} | tee pl*n.sh; ./plain.sh",
            "{e} | tee {{plain,y}}.sh; ./plain.sh",
            "{e} | tee $PWD/plain.sh; ./plain.sh",
        ),
        *('x=plain.sh; {e} | tee "$x"; ./plain.sh', "for f in plain.sh; do {e} | tee $f; done; ./plain.sh"),
        *('x=../plain.sh; {e} >> "sub/$x"; ./plain.sh', "{e} >> ~/../above/project/plain.sh; ./plain.sh"),
    ],
)
async def test_a_line_that_writes_an_unknown_name_may_replace_its_script(project: Project, line: str) -> None:
    assert not await breaks_promise(project, line.format(e=f"echo 'touch {project.ran}'"))


# A line may write to its script by another name.
@pytest.mark.parametrize("target", ["link", "hard", "folder/plain.sh", "/proc/self/cwd/plain.sh"])
async def test_a_line_that_writes_its_script_by_another_name(project: Project, target: str) -> None:
    (project.root / "link").symlink_to("plain.sh")
    (project.root / "folder").symlink_to(".")
    os.link(project.root / "plain.sh", project.root / "hard")
    assert not await breaks_promise(project, f"echo 'touch {project.ran}' >> {target}; ./plain.sh")


async def test_a_log_that_becomes_a_link_to_the_script(project: Project) -> None:
    """The target of `>>` is not part of the content hash, as with `>`; the appended text comes from a folder."""
    project.put("notes/a", "text\n")

    def swap() -> None:
        project.put("notes/a", f"touch {project.ran}\n")
        (project.root / "log.txt").symlink_to("plain.sh")

    assert not await breaks_promise(project, "grep -rh '' notes >> log.txt; ./plain.sh", swap)


# A line may make a folder and enter it.
async def test_a_folder_that_the_line_makes_and_enters(project: Project) -> None:
    line = f"mkdir -p d; (cd d && echo 'touch {project.ran}' >> ../plain.sh); ./plain.sh"
    assert not await breaks_promise(project, line)


# A line may make a file that comes before the compared one.
@pytest.mark.parametrize(
    "line",
    [
        "printf 'all:\\n\\ttouch {ran}\\n' > GNUmakefile; make",
        "printf 'all:\\n\\ttouch {ran}\\n' > Makefile.sh; make",
        'echo \'{{"scripts":{{"test":"touch {ran}"}}}}\' > sub/package.json; cd sub && npm test',
        "mkdir -p tool; touch tool/__init__.py; echo \"open('{ran}','w')\" > tool/__main__.py; python3 -m tool",
        "mkdir -p sub/objects sub/refs/heads; echo 'ref: refs/heads/main' > sub/HEAD; "
        "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n"
        '\\tworktree = ..\\n\\tfsmonitor = "touch {ran};:"\\n\' > sub/config; cd sub && git status',
    ],
)
async def test_a_line_that_makes_a_file_which_comes_before_the_compared_one(project: Project, line: str) -> None:
    project.repository()
    project.put("Makefile", "all:\n\techo harmless\n")
    project.put("package.json", '{"scripts": {"test": "true"}}')
    assert not await breaks_promise(project, line.format(ran=project.ran))


# Interpreters write files, too.
async def test_a_script_that_awk_writes(project: Project) -> None:
    line = f'awk \'BEGIN {{ print "touch {project.ran}" > "plain.sh" }}\'; ./plain.sh'
    assert not await breaks_promise(project, line)


# A repository may appear between a folder and the compared repository.
@pytest.mark.parametrize("line", ["cd sub && git status", "git -C sub status"])
async def test_a_git_file_that_appears_in_an_entered_folder(project: Project, line: str) -> None:
    project.repository()

    def swap() -> None:
        project.hostile_settings("../other")
        project.put("sub/.git", f"gitdir: {project.root}/../other/.git\n")

    assert not await breaks_promise(project, line, swap)


async def test_a_repository_that_appears_between_the_folders_of_a_line(project: Project) -> None:
    project.repository()
    (project.root / "a/b").mkdir(parents=True)
    assert not await breaks_promise(project, "cd a/b && git status", lambda: project.hostile_settings("a"))


# A `file:` address is a folder, whose hooks run.
def test_a_file_address_is_no_other_machine() -> None:
    assert not is_address("file:///srv/other")


@pytest.mark.parametrize("line", ["git push origin main", "git push file://{other} main"])
async def test_hooks_of_a_repository_that_a_file_address_names(project: Project, line: str) -> None:
    other = project.root.parent / "other"
    project.git("init", "-q", "--bare", folder="../other")
    project.repository(f"file://{other}")
    swap = lambda: project.put("../other/hooks/pre-receive", project.hostile)  # noqa: E731
    assert not await breaks_promise(project, line.format(other=other), swap)


# A push to `.` runs the hooks of the receiving side.
@pytest.mark.parametrize("hook", ["pre-receive", "update", "post-receive", "post-update"])
async def test_hooks_of_a_push_to_the_repository_itself(project: Project, hook: str) -> None:
    project.repository(None)
    project.git("checkout", "-qb", "topic", "--track", "main")
    project.git("config", "push.default", "upstream")
    project.git("commit", "--allow-empty", "-qm", "y")
    assert not await breaks_promise(project, "git push", lambda: project.put(f".git/hooks/{hook}", project.hostile))


# Without a configured remote, git reads `.git/remotes` and `.git/branches`.
@pytest.mark.parametrize(
    ("name", "text"),
    [(".git/remotes/origin", "URL: ../other\nPush: refs/heads/main\n"), (".git/branches/origin", "../other#main\n")],
)
async def test_a_remote_in_a_file_of_its_own(project: Project, name: str, text: str) -> None:
    project.repository(None)
    project.git("init", "-q", "--bare", folder="../other")
    project.put("../other/hooks/pre-receive", project.hostile)
    assert not await breaks_promise(project, "git push", lambda: project.put(name, text))


# git ends a value at a comment.
async def test_a_remark_behind_the_name_of_a_remote(project: Project) -> None:
    project.repository(None)
    project.git("config", "remote.a#b.url", "https://example.org/x.git")
    project.git("init", "-q", "--bare", "a")
    with (project.root / ".git/config").open("a") as file:
        file.write('[branch "main"]\n\tremote = a#b\n\tmerge = refs/heads/main\n[push]\n\tdefault = current\n')
    assert not await breaks_promise(project, "git push", lambda: project.put("a/hooks/pre-receive", project.hostile))


# git runs a hook only if somebody may execute it.
async def test_a_hook_that_becomes_executable(project: Project) -> None:
    project.repository()
    project.put(".git/hooks/pre-commit", project.hostile, 0o644)
    swap = (project.root / ".git/hooks/pre-commit").chmod
    assert not await breaks_promise(project, "git commit --allow-empty -m x", lambda: swap(0o755))


# npm looks for workspaces above the package, and takes settings from there.
@pytest.mark.parametrize("is_there", [True, False])
async def test_a_package_between_the_folders_of_a_line(project: Project, is_there: bool) -> None:
    project.put("package.json", '{"scripts": {"test": "true"}}')
    (project.root / "a/b").mkdir(parents=True)
    if is_there:
        project.put("a/package.json", '{"scripts": {"test": "true"}}')
    hostile = f'{{"scripts": {{"test": "touch {project.ran}"}}}}'
    assert not await breaks_promise(project, "cd a/b && npm test", lambda: project.put("a/package.json", hostile))


async def test_npm_start_without_a_script_runs_server_js(project: Project) -> None:
    project.put("package.json", '{"scripts": {}}')
    project.put("server.js", "")
    assert not await breaks_promise(project, "npm start", lambda: project.put("server.js", project.node))


@pytest.mark.parametrize("setting", ["script-shell=./plain.sh", "node-options=--require ./helper.js"])
async def test_settings_of_npm_that_name_code(project: Project, setting: str) -> None:
    project.put("package.json", '{"scripts": {"test": "node -e 1"}}')
    project.put(".npmrc", setting)
    project.put("helper.js", "")

    def swap() -> None:
        project.put("plain.sh", project.hostile)
        project.put("helper.js", project.node)

    assert not await breaks_promise(project, "npm test", swap)


# A path below /proc/self or /dev/fd names another file in another process.
@pytest.mark.parametrize("line", ["cd sub && sh /proc/self/cwd/plain.sh", "cd sub && /proc/self/cwd/plain.sh"])
async def test_a_path_that_means_another_file_for_the_shell(
    project: Project, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.root)
    assert not await breaks_promise(project, line, lambda: project.put("sub/plain.sh", project.hostile))


async def test_a_descriptor_that_means_another_file_for_the_shell(project: Project) -> None:
    project.put("notes/a", "true\n")
    with (project.root / "README").open() as file:
        os.dup2(file.fileno(), 57)
    try:
        line = "grep -rh '' notes | sh /dev/fd/57 57<&0"
        assert not await breaks_promise(project, line, lambda: project.put("notes/a", f"touch {project.ran}\n"))
    finally:
        os.close(57)


# A program by a path outside of the workspace may start others.
async def test_the_loader_of_programs_is_no_script(project: Project) -> None:
    loader, python = os.path.realpath("/lib64/ld-linux-x86-64.so.2"), os.path.realpath("/usr/bin/python3")
    if not os.path.isfile(loader):
        pytest.skip("another loader")
    project.put("helper.py", "")
    line = f"{loader} {python} -c 'import helper'"
    assert not await breaks_promise(project, line, lambda: project.put("helper.py", project.python))


# A line that runs no code of the workspace may put a program into a folder of the PATH.
@pytest.mark.parametrize(
    "line",
    [
        *("cp -r x/. .venv; cat README", "mv y/cat .venv/bin/; cat README", "chmod +x z/cat; cat README"),
        *("ln -s ../../y/cat .venv/bin/cat; cat README", "cp -r x/. ../local; cat README"),
    ],
)
async def test_a_line_that_puts_a_program_into_the_path(project: Project, line: str) -> None:
    project.put("x/bin/cat", SH)
    project.put("y/cat", project.hostile)
    project.put("z/cat", project.hostile, 0o644)
    (project.root / ".venv/bin").mkdir(parents=True)
    above = project.root.parent
    project.path = f"{project.root}/.venv/bin:{project.root}/z:{above}/local/bin:{SYSTEM_PATH}"
    assert not await breaks_promise(project, line, lambda: project.put("x/bin/cat", project.hostile))


# Installed scripts start programs by name, also from a PATH folder in the workspace.
@pytest.mark.parametrize(
    ("line", "program"),
    [
        *(("egrep te README", "grep"), ("gunzip -kc a.gz", "gzip"), ("ls | xargs", "echo"), ("npm --version", "node")),
        ("./tool", "python3"),
    ],
)
async def test_a_program_of_the_workspace_that_an_installed_script_starts(
    project: Project, line: str, program: str
) -> None:
    project.put("tool", "#!/usr/bin/env python3\nprint(1)\n")
    subprocess.run("gzip -c README > a.gz", shell=True, cwd=project.root, check=True)
    (project.root / ".venv/bin").mkdir(parents=True)
    project.path = f"{project.root}/.venv/bin:{SYSTEM_PATH}"
    assert not await breaks_promise(project, line, lambda: project.put(f".venv/bin/{program}", project.hostile))


# Lines that would put a program into the PATH by a builtin, or start the program that they have replaced.
@pytest.mark.parametrize(
    "line",
    [
        "echo 'touch {ran}' > ../local/bin/cat; cat README",
        "cp y/cp ../local/bin/cp; cp y/cp ../local/bin/cp",
        "for name in cp x; do cp y/cp ../local/bin/$name; done",
        "history -s 'touch {ran}'; history -w ../local/bin/cat; cat README",
    ],
)
async def test_a_line_that_replaces_a_program_outside_of_the_workspace(project: Project, line: str) -> None:
    project.put("../local/bin/cat", '#!/bin/sh\nexec /bin/cat "$@"\n')
    project.put("y/cp", project.hostile)
    project.path = f"{project.root.parent}/local/bin:{SYSTEM_PATH}"
    assert not await breaks_promise(project, line.format(ran=project.ran))


@pytest.mark.parametrize("line", ["git push --repo=../other main", "git push -o origin ../other main"])
async def test_a_push_to_a_folder_that_an_option_hides(project: Project, line: str) -> None:
    project.repository()
    project.git("init", "-q", "--bare", folder="../other")
    project.git("config", "receive.advertisePushOptions", "true", folder="../other")
    assert not await breaks_promise(project, line, lambda: project.put("../other/hooks/pre-receive", project.hostile))


@pytest.mark.parametrize("line", ["cd sub && ./plain.sh", "sub/plain.sh", "cd sub && sh plain.sh 2>&1 | tail -5"])
async def test_a_folder_that_becomes_a_link(project: Project, line: str) -> None:
    def swap() -> None:
        (project.root / "sub").rename(project.root / "old")
        project.put("other/plain.sh", project.hostile)
        (project.root / "sub").symlink_to("other")

    assert not await breaks_promise(project, line, swap)
    assert not project.ran.exists()


async def test_a_line_that_needs_a_warning_only_when_it_starts_is_stopped(project: Project) -> None:
    """The same file, behind a link that may lead elsewhere at any time."""
    environment = CommandEnvironment.of({"PATH": SYSTEM_PATH, "HOME": str(project.home)})
    arguments, execute = ExecuteArguments(command="./plain.sh"), Execute()
    workspace = Workspace(project.root, environment=environment)
    preview = await execute.prepare(arguments, workspace)
    (project.root / "plain.sh").rename(project.root / "moved.sh")
    (project.root / "plain.sh").symlink_to("moved.sh")
    context = ToolContext(call_id=CallId("call"), workspace=workspace, content_hash=preview.content_hash, seconds=20)
    with pytest.raises(ToolError) as refusal:
        await execute.run(arguments, context)
    assert refusal.value.reason.code is Code.COMMAND_FILES_CHANGED
