"""`sandbox = "workspace"`: access of a command outside its workspace, on the Landlock ABIs that differ.

As the user who runs the tests, and as nobody where that is root: root's privileges reach past Landlock.
"""

import os
import shlex
import shutil
import stat
from pathlib import Path

import pytest

from pilothouse.domain.promises import Kernel
from pilothouse.domain.value import CallId
from pilothouse.sandbox import confinement, landlock, system_calls
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.confinement import Confinement
from pilothouse.sandbox.workspace import Root, Workspace
from pilothouse.tools.base import ToolContext
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments
from pilothouse.tools.builtin.grep.tool import Grep, GrepArguments, find_ripgrep
from tests.security.test_sandbox_alone import IS_ROOT, USERS, place, run
from tests.support.kernel import needs_sandbox

pytestmark = needs_sandbox

ABIS = sorted({1, min(3, confinement.kernel().landlock), confinement.kernel().landlock})
MACHINE = os.uname().machine
PYTHON = "/usr/bin/python3 -c"


def writing(base: Path, abi: int) -> Confinement:
    return confinement.workspace_confinement([str(base / "work")], with_kernel=Kernel(abi, filter=True))


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("abi", ABIS)
def test_a_command_makes_no_device_in_its_workspace(abi: int, user: int | None) -> None:
    with place(user) as base:
        run("mknod block b 7 99; mknod char c 1 1; mknod pipe p", base / "work", writing(base, abi), user)
        kinds = {path.name: stat.S_IFMT(path.lstat().st_mode) for path in (base / "work").iterdir()}
        assert kinds == {"f.txt": stat.S_IFREG, "sub": stat.S_IFDIR, "pipe": stat.S_IFIFO}


@pytest.mark.skipif(not IS_ROOT, reason="only root has privileges to lose")
def test_root_keeps_only_the_privileges_that_work_in_a_workspace_needs() -> None:
    with place(None) as base:
        work = "chown 65534 f.txt; chmod 600 f.txt; setpriv --reuid 65534 --clear-groups cat f.txt; echo more >> f.txt"
        text = run(f"grep Cap /proc/self/status; {work}", base / "work", writing(base, max(ABIS)), None)
        lines = [line.split() for line in text.splitlines()]
        masks = {line[0]: int(line[1], 16) for line in lines if line[0].startswith("Cap")}
        assert all(mask & ~landlock.WORKSPACE_CAPABILITIES == 0 for mask in masks.values()), text
        assert text.endswith("\nhello\n")
        assert (base / "work/f.txt").read_text() == "hello\nmore\n"


BY_HANDLE = """import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
handle = (ctypes.c_uint32 * 34)(128)
path = sys.argv[1].encode()
known = libc.name_to_handle_at(-100, path, ctypes.byref(handle), ctypes.byref(ctypes.c_int()), 0)
mount = os.open("/", os.O_RDONLY)
opened = libc.syscall(ctypes.c_long(int(sys.argv[2])), mount, ctypes.byref(handle), os.O_TRUNC)
print("known" if known == 0 else "unknown", "opened" if opened >= 0 else "refused")
"""


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("abi", ABIS)
def test_a_command_opens_no_file_by_its_handle(abi: int, user: int | None) -> None:
    """Landlock below ABI 3 sees reading only where O_TRUNC comes without write access."""
    number = system_calls.numbers(MACHINE, system_calls.REFUSED)["open_by_handle_at"]
    with place(user) as base:
        command = f"{PYTHON} {shlex.quote(BY_HANDLE)} {base}/out.txt {number}"
        text = run(command, base / "work", writing(base, abi), user)
        assert text.endswith("refused\n")
        assert (base / "out.txt").read_text() == "planted outside\n"


ATTRIBUTES = """import fcntl, os, struct, sys
for path in (sys.argv[1], "f.txt"):
    fd = os.open(path, os.O_RDONLY)
    for action in (
        lambda: os.setxattr(path, "user.x", b"1"),
        lambda: os.setxattr(fd, "user.x", b"1"),
        lambda: fcntl.ioctl(fd, 0x40086602, struct.pack("l", 0x80)),
    ):
        try:
            action()
            print("set")
        except OSError:
            pass
"""


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("abi", ABIS)
def test_a_command_sets_no_attribute_of_a_file(abi: int, user: int | None) -> None:
    """A filter cannot tell files outside the workspace from those inside."""
    with place(user) as base:
        command = f"{PYTHON} {shlex.quote(ATTRIBUTES)} {base}/out.txt; cp -a f.txt copy && echo copied"
        assert run(command, base / "work", writing(base, abi), user) == "copied\n"
        assert os.listxattr(base / "out.txt") == []


TOOLS = {
    "git": "git init -q . && git add f.txt && git -c user.name=a -c user.email=a@b commit -qm one && git log --oneline",
    "make": "printf 'all:\\n\\techo built > built\\n' > Makefile && make -s && cat built",
    "gcc": "echo 'int main(void){return 0;}' > a.c && gcc -o a a.c && ./a && cp -a a b && install -m 755 a c",
    "node": 'node -e \'require("fs").writeFileSync("n", "x"); require("child_process").execFileSync("true")\'',
    "cargo": "cargo --version",
    "python3": f"{PYTHON} 'import multiprocessing as m, tempfile; m.Pool(2).map(abs, [1]); tempfile.mkdtemp()'",
    "tar": "tar cf - f.txt sub | tar xf - -C sub && cp -a f.txt g.txt && mv g.txt sub/h.txt",
}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("user", USERS)
def test_ordinary_tools_work_in_a_workspace(tool: str, user: int | None) -> None:
    if shutil.which(tool, path="/usr/local/bin:/usr/bin:/bin") is None:
        pytest.skip(f"{tool} is not installed")
    with place(user) as base:
        for abi in (min(ABIS), max(ABIS)):
            command = f"export TMPDIR=$PWD; rm -rf .git; {TOOLS[tool]} && echo works"
            text = run(command, base / "work", writing(base, abi), user)
            assert text.endswith("works\n"), text


@pytest.mark.parametrize("confined", [True, False])
async def test_a_confined_command_reads_no_folder_of_another_user(tmp_path: Path, confined: bool) -> None:
    for name in ("mine", "theirs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "plan.txt").write_text(f"plan: {name}\n")
    environment = CommandEnvironment.of({"PATH": "/usr/bin:/bin", "HOME": "/"})
    tool = Execute(sandbox="workspace")
    job = ToolContext(
        call_id=CallId("c1"),
        workspace=Workspace(tmp_path, foreign_roots=[tmp_path / "theirs"], environment=environment),
        confined=confined,
        seconds=20,
    )
    output = await tool.run(ExecuteArguments(command="cat mine/plan.txt theirs/plan.txt"), job)
    assert "plan: mine" in output.content
    assert "plan: theirs" not in output.content


@pytest.mark.parametrize("engine", [find_ripgrep(), None], ids=["ripgrep", "python"])
@pytest.mark.parametrize("beside", [False, True])
async def test_a_search_reads_no_folder_of_another_user(tmp_path: Path, engine: str | None, beside: bool) -> None:
    for name in ("mine", "theirs", "elsewhere"):
        (tmp_path / "root" / name).mkdir(parents=True)
        (tmp_path / "root" / name / "plan.txt").write_text(f"plan: {name}\n")
    others = [tmp_path / "root/theirs"]
    if beside:
        workspace = Workspace(tmp_path / "root/mine", extra_roots=[Root(tmp_path / "root")], foreign_roots=others)
    else:
        workspace = Workspace(tmp_path / "root", foreign_roots=others)
    arguments = GrepArguments(pattern="plan", path=str(tmp_path / "root"))
    output = await Grep(engine).run(arguments, ToolContext(call_id=CallId("c1"), workspace=workspace, seconds=20))
    assert "plan: mine" in output
    assert "plan: elsewhere" in output
    assert "plan: theirs" not in output
