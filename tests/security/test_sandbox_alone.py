"""The kernel's sandbox alone, without the classifier: no attempt of a read-only command has an effect.

As the user who runs the tests, and as nobody where that is root: root passes many checks that hold for others, and
some of what holds for others is not asked of root.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pilothouse.domain.errors import ToolError
from pilothouse.domain.promises import Kernel
from pilothouse.domain.value import CallId
from pilothouse.sandbox import confinement, processes
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.confinement import Confinement
from pilothouse.sandbox.workspace import Root, Workspace
from pilothouse.tools.base import ToolContext
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments
from tests.security import line_runner
from tests.security.cases import SHELL, Case
from tests.security.hostile_folders import tree
from tests.support.kernel import needs_sandbox
from tests.support.scale import Record

pytestmark = needs_sandbox

NOBODY = 65534
IS_ROOT = os.geteuid() == 0
USERS = [pytest.param(None, id="own"), *([pytest.param(NOBODY, id="nobody")] if IS_ROOT else [])]
PATH = "/usr/local/bin:/usr/bin:/bin"
SECONDS = 20
# The supervisor as the runtime starts it, but as another user: its modules are loaded before the change.
AS_USER = """import os, sys
sys.path.append(sys.argv[1])
import _socket, pilothouse.sandbox.signal_listener
from pilothouse.sandbox.supervisor import main
if sys.argv[2] != "None":
    os.setgroups([])
    os.setgid(int(sys.argv[2]))
    os.setuid(int(sys.argv[2]))
main(sys.argv[3:])
"""
PACKAGES = str(Path(processes.__file__).parents[2])


def run(command: str, folder: Path, confined: Confinement, user: int | None) -> str:
    """Run a command under a supervisor, as a user, and return its output. No process of it is left afterwards."""
    environment = CommandEnvironment.of({"PATH": PATH, "HOME": str(folder), "LANG": "C.UTF-8"})
    kernel = [str(confined.kernel.landlock), str(int(confined.kernel.filter))]
    python = [sys.executable, "-I", "-S", "-B", "-c", AS_USER, PACKAGES, str(user)]
    variables = {
        **confinement.environment_for(confined.kind, environment, str(folder)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "npm_config_cache": str(folder / "tmp"),
    }
    with (
        processes.memory_file(processes.encode_orders(confined, variables)) as orders,
        subprocess.Popen(
            [*python, confined.kind, *kernel, "1024", str(orders), "/bin/bash", "-c", command],
            cwd=folder,
            env={},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=(orders,),
        ) as supervisor,
    ):
        assert supervisor.stdin is not None
        assert supervisor.stdout is not None
        late = threading.Timer(SECONDS, supervisor.stdin.close)  # the supervisor then ends everything
        late.start()
        try:
            return supervisor.stdout.read().decode(errors="replace")
        finally:
            late.cancel()
            supervisor.wait()


def reading(folder: Path) -> Confinement:
    return confinement.read_only_confinement([str(folder)], {"PATH": PATH})


def give(folder: Path, user: int | None) -> Path:
    if user is not None:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user, user, follow_symlinks=False)
    return folder


@contextlib.contextmanager
def place(user: int | None) -> Iterator[Path]:
    """A folder that a user can get to and owns, with a workspace in it, and a file outside of that."""
    base = Path(tempfile.mkdtemp(prefix="alone-"))
    try:
        base.chmod(0o755)
        (base / "work/sub").mkdir(parents=True)
        (base / "work/f.txt").write_text("hello\n")
        (base / "home/.ssh").mkdir(parents=True)
        (base / "home/.ssh/id_rsa").write_text("planted key\n")
        (base / "out.txt").write_text("planted outside\n")
        yield give(base, user)
    finally:
        shutil.rmtree(base, ignore_errors=True)


# every dangerous line of the data


@pytest.fixture(scope="module")
def bait() -> Iterator[Path]:
    """The files that the lines expect: a repository, scripts, a victim."""
    base = Path(tempfile.mkdtemp(prefix="bait-"))
    folder = base / "work"
    folder.mkdir()
    (folder / "tmp").mkdir()
    for name, text in line_runner.FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    for name in line_runner.PROGRAMS:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(line_runner.EVIL)
        (folder / name).chmod(0o755)
    environment = {"PATH": PATH, "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(
        ["/bin/bash", "-c", line_runner.PREPARING], cwd=folder, env=environment, check=True, capture_output=True
    )
    yield folder
    shutil.rmtree(base, ignore_errors=True)


def copied(bait: Path, base: Path, user: int | None) -> Path:
    folder = base / "bait"
    subprocess.run(["cp", "-a", str(bait), str(folder)], check=True)
    return give(folder, user)


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("case", SHELL, ids=lambda case: case.id)
def test_a_dangerous_line_does_nothing_in_the_sandbox_alone(case: Case, user: int | None, bait: Path) -> None:
    with place(user) as base:
        folder = copied(bait, base, user)
        before = tree(base)
        run(case.command, folder, reading(folder), user)
        assert tree(base) == before


def test_most_dangerous_lines_have_an_effect_without_the_sandbox(bait: Path, record_property: Record) -> None:
    """A control of the test above: the lines have effects."""
    user = NOBODY if IS_ROOT else None
    struck = 0
    for case in SHELL:
        with place(user) as base:
            folder = copied(bait, base, user)
            before = tree(base)
            run(case.command, folder, confinement.UNCONFINED, user)
            struck += tree(base) != before
    assert struck >= len(SHELL) * 3 // 4
    record_property("figure", f"sandbox alone: {struck} of {len(SHELL)} lines strike without it, 0 with it")


# changes without a write to a file

OPENS = """{python} 'import os
for flags in (os.O_WRONLY, os.O_RDWR):
    for more in (0, os.O_CREAT, os.O_TRUNC, os.O_APPEND, os.O_TMPFILE):
        for path in ("f.txt", ".", "{out}"):
            try: os.write(os.open(path, flags | more), b"x")
            except OSError: pass'"""
CHANGES = {
    "write": "echo x > f.txt; echo x >> {out}; : > new; tee f.txt < /dev/null; dd if=/dev/zero of=f.txt count=1",
    "truncate": "truncate -s 0 f.txt {out}",
    "make": "mkdir d; mkfifo p; ln -s a b; ln f.txt hard; ln {out} hard; mknod n p; touch t; install f.txt g.txt",
    "remove": "rm -f f.txt {out}; rmdir sub; unlink f.txt; find . -delete",
    "move": "mv f.txt g.txt; mv {out} g.txt; mv f.txt {base}/g.txt; mv sub {base}/sub2",
    "mode": "chmod 777 f.txt {out} sub .; chmod -R 777 .",
    "owner": "chown 1 f.txt {out}; chgrp 1 f.txt; chown -h 1 f.txt",
    "time": "touch f.txt {out}; touch -d 2001-01-01 f.txt sub",
    "attribute": '{python} \'import os\nfor path in ("f.txt", "{out}"): os.setxattr(path, "user.x", b"1")\'',
    "rename over": '{python} \'import os; os.replace("f.txt", "g.txt")\'',
    "open anyhow": OPENS,
    "through proc": "echo x > /proc/self/cwd/f.txt; exec 3< f.txt; echo x > /proc/self/fd/3",
    "memory map": "{python} 'import mmap, os; fd = os.open(\"f.txt\", os.O_RDWR); mmap.mmap(fd, 6)[0] = 65'",
    "in a namespace": "unshare -Urm sh -c 'echo x > f.txt'; unshare -m touch f.txt; chroot . touch f.txt",
    "by set-id": "sudo -n touch f.txt; su -c 'touch f.txt'; pkexec touch f.txt",
    "shared memory": "echo x > /dev/shm/{tag}; echo x > /tmp/{tag}; echo x > /var/tmp/{tag}; echo x > /run/{tag}",
    "mount": "mount -t tmpfs x sub",
}
PYTHON = "/usr/bin/python3 -c"


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("name", CHANGES)
def test_no_way_of_changing_a_file_works(name: str, user: int | None) -> None:
    with place(user) as base:
        tag = base.name
        text = CHANGES[name].format(out=base / "out.txt", base=base, python=PYTHON, tag=tag)
        before = tree(base)
        run(text, base / "work", reading(base / "work"), user)
        assert tree(base) == before
        assert [path for path in ("/dev/shm", "/tmp", "/var/tmp", "/run") if Path(path, tag, "x").exists()] == []
        assert not Path("/dev/shm", tag).exists()


FLAGS = '{python} \'import fcntl, os, struct; fd = os.open("f.txt", os.O_RDONLY)\n'
FLAGS += 'fcntl.ioctl(fd, 0x40086602, struct.pack("l", 0x80))\''


@pytest.mark.parametrize("user", USERS)
def test_no_flag_of_a_file_is_set(user: int | None) -> None:
    """`chattr` needs no write permission: as root it makes a file undeletable."""
    with place(user) as base:
        path = base / "work/f.txt"
        if "no flags" in _flags(path):
            pytest.skip("this file system has none")
        before = _flags(path)
        run(FLAGS.format(python=PYTHON), base / "work", reading(base / "work"), user)
        assert _flags(path) == before


def _flags(path: Path) -> str:
    done = subprocess.run(["lsattr", "-d", str(path)], capture_output=True, text=True)
    return done.stdout.split()[0] if done.returncode == 0 else "no flags"


# others


@contextlib.contextmanager
def listening() -> Iterator[tuple[dict[str, str], Callable[[], int]]]:
    """Addresses of listeners, and a count of what they received."""
    folder = Path(tempfile.mkdtemp(prefix="listen-"))
    folder.chmod(0o755)
    tcp, udp = socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    named, abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    tcp.bind(("127.0.0.1", 0))
    udp.bind(("127.0.0.1", 0))
    named.bind(str(folder / "socket"))
    (folder / "socket").chmod(0o777)
    abstract.bind(f"\0{folder.name}")
    for each in (tcp, named, abstract):
        each.listen()
    for each in (tcp, udp, named, abstract):
        each.setblocking(False)

    def connection_count() -> int:
        count = 0
        for each in (tcp, named, abstract):
            with contextlib.suppress(BlockingIOError):
                each.accept()[0].close()
                count += 1
        with contextlib.suppress(BlockingIOError):
            udp.recv(10)
            count += 1
        return count

    try:
        ports = {"tcp": str(tcp.getsockname()[1]), "udp": str(udp.getsockname()[1])}
        yield {**ports, "named": str(folder / "socket"), "abstract": folder.name}, connection_count
    finally:
        for each in (tcp, udp, named, abstract):
            each.close()
        shutil.rmtree(folder)


CONNECTS = """
import socket
for family, kind, address in (
    (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", {tcp})),
    (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", {udp})),
    (socket.AF_UNIX, socket.SOCK_STREAM, "{named}"),
    (socket.AF_UNIX, socket.SOCK_STREAM, chr(0) + "{abstract}"),
):
    try:
        made = socket.socket(family, kind)
        made.connect(address)
        made.send(b"secret")
    except OSError as error:
        print(error)
"""
SPEAKS = "echo x > /dev/tcp/127.0.0.1/{tcp}; echo x > /dev/udp/127.0.0.1/{udp}"


@pytest.mark.parametrize("user", USERS)
def test_a_confined_command_connects_to_no_listener(user: int | None) -> None:
    with place(user) as base, listening() as (where, connection_count):
        (base / "work/call.py").write_text(CONNECTS.format(**where))
        command = f"/usr/bin/python3 call.py; {SPEAKS.format(**where)}"
        run(command, base / "work", reading(base / "work"), user)
        assert connection_count() == 0
        run(command, base / "work", confinement.UNCONFINED, user)
        assert connection_count() == 4, "without the sandbox all of them were called"


@contextlib.contextmanager
def somebody(user: int | None) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the same user's, outside, with a secret in its environment."""
    as_user: dict[str, Any] = {"user": user, "group": user, "extra_groups": ()} if user is not None else {}
    environment = {"SECRET": "planted"}
    with subprocess.Popen(["/bin/sleep", "60"], env=environment, start_new_session=True, **as_user) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("user", USERS)
def test_no_process_outside_can_be_ended(user: int | None) -> None:
    with place(user) as base, somebody(user) as other:
        killing = f"kill {other.pid}; kill -9 {other.pid}; kill -STOP {other.pid}; pkill -9 -g {other.pid}"
        run(killing, base / "work", reading(base / "work"), user)
        assert other.poll() is None
        assert Path(f"/proc/{other.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "S"


@pytest.mark.parametrize("user", USERS)
def test_no_process_outside_can_be_stopped_or_slowed(user: int | None) -> None:
    """A limit that is set from outside ends a process as surely as a signal does."""
    with place(user) as base, somebody(user) as other:
        before = _holds(other.pid)
        holding = f"prlimit --pid {other.pid} --nofile=3:3 --fsize=0:0; renice 19 {other.pid}; taskset -p 1 {other.pid}"
        run(holding, base / "work", reading(base / "work"), user)
        assert _holds(other.pid) == before


def _holds(pid: int) -> tuple[str, int, set[int]]:
    limits = Path(f"/proc/{pid}/limits").read_text()
    return limits, os.getpriority(os.PRIO_PROCESS, pid), os.sched_getaffinity(pid)


@pytest.mark.parametrize("user", USERS)
def test_a_confined_command_reads_nothing_of_other_processes(user: int | None) -> None:
    """Of the runtime itself least of all: its environment has the keys."""
    with place(user) as base, somebody(user) as other:
        looking = f"cd /proc/{other.pid}; cat environ; cat mem; ls -l fd cwd root exe; cat maps; cat root/etc/passwd"
        output = run(looking, base / "work", reading(base / "work"), user)
        assert "planted" not in output
        assert "/bin/sleep" not in output
        assert "root:" not in output


@pytest.mark.parametrize("user", USERS)
def test_a_confined_command_reads_only_the_workspace_and_the_system(user: int | None) -> None:
    with place(user) as base:
        home = base / "home"
        looking = (
            f"cat {home}/.ssh/id_rsa {base}/out.txt; ls -la {base} {home} /home /root /tmp /var /run; cat ../out.txt"
        )
        output = run(looking, base / "work", reading(base / "work"), user)
        assert "planted" not in output
        assert "id_rsa\n" not in output


@pytest.mark.skipif(not IS_ROOT, reason="only root has such rights")
def test_root_has_no_capabilities_in_the_sandbox() -> None:
    """To name the machine, to set its clock, to look at others: none of them needs a file."""
    with place(None) as base:
        output = run("grep ^CapEff /proc/self/status", base / "work", reading(base / "work"), None)
        assert int(output.split()[1], 16) == 0


# commands that work

WORKS = {
    "echo a > /dev/null; echo done": "done\n",
    "cat /dev/null; echo done 2>/dev/null": "done\n",
    "echo b a | tr ' ' '\\n' | sort | head -1": "a\n",
    "cat <<X\nhere $(echo too)\nX": "here too\n",
    "(echo sub; (echo deeper))": "sub\ndeeper\n",
    "cat <(echo process)": "process\n",
    "x=$(cat f.txt); echo $x": "hello\n",
    "for f in *.txt; do wc -l < $f; done": "1\n",
    "sleep 0.01 & wait; echo waited": "waited\n",
    "cat f.txt | tee /dev/null": "hello\n",
    "echo err >&2": "err\n",
    "cd sub && pwd | tail -c 5": "/sub\n",
    "cat <<< string": "string\n",
    "head -c 3 /dev/zero | wc -c": "3\n",
    "trap 'echo bye' EXIT; true": "bye\n",
    "coproc cat; echo x >&${COPROC[1]}; read -u ${COPROC[0]} y; echo $y": "x\n",
    "test -r f.txt && test ! -w /etc/passwd; echo $?": "0\n" if not IS_ROOT else None,
}


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("command", WORKS)
def test_read_only_commands_work_as_without_confinement(command: str, user: int | None) -> None:
    with place(user) as base:
        output = run(command, base / "work", reading(base / "work"), user)
        assert output == (WORKS[command] or output)
        assert "denied" not in output


@pytest.mark.parametrize("user", USERS)
def test_git_reports_the_repository_in_the_sandbox(user: int | None, bait: Path) -> None:
    with place(user) as base:
        folder = copied(bait, base, user)
        output = run("git status --short; git log --oneline; git diff --stat", folder, reading(folder), user)
        assert " M f.txt" in output
        assert "first" in output


# by the tool


async def use(workspace: Workspace, command: str, *, confined: bool = False, **options: Any) -> str:
    variables = {**os.environ, "PATH": PATH, "HOME": "/nonexistent", **options.pop("environment", {})}
    workspace.environment = CommandEnvironment.of(variables)
    tool = Execute(**options)
    job = ToolContext(call_id=CallId(f"call-{os.getpid()}"), workspace=workspace, seconds=SECONDS, confined=confined)
    return (await tool.run(ExecuteArguments(command), job)).content


REFUSED = (
    "echo x > f",
    "touch f.txt",
    "chmod 700 f.txt",
    "mkdir d",
    "cat ../out.txt",
    "kill -9 1",
    "echo > /dev/tcp/::1/9",
)


@pytest.mark.parametrize("command", REFUSED)
async def test_a_refusal_by_the_kernel_is_explained_in_the_result(command: str) -> None:
    with place(None) as base:
        output = await use(Workspace(base / "work"), command, confined=True)
        assert "the kernel refused what it tried" in output


async def test_a_result_without_a_refusal_has_no_explanation() -> None:
    with place(None) as base:
        assert await use(Workspace(base / "work"), "cat f.txt", confined=True) == "hello\n"
        assert await use(Workspace(base / "work"), "echo x > f; cat f") == "x\n"


# Entries that lead a shell into its working directory. The last ones leave no other entry.
OWN_FOLDERS = (
    *(f".:{PATH}", f":{PATH}", f"{{work}}:{PATH}", f"sub/..:{PATH}", f"~/../work:{PATH}", f"{{base}}/link:{PATH}"),
    *(f"/proc/self/cwd:{PATH}", f"/proc/thread-self/cwd:{PATH}", f"//proc/self/../self/cwd:{PATH}"),
    *(f"/usr/../proc/self/cwd:{PATH}", f"/dev/fd/../cwd:{PATH}", ".", "", ":", "::", "{work}", "{base}/link"),
)


@pytest.mark.parametrize("path", OWN_FOLDERS)
async def test_a_program_of_the_workspace_is_not_found_by_its_name(path: str) -> None:
    with place(None) as base:
        (base / "work/cat").write_text("#!/bin/sh\necho shadow\n")
        (base / "work/cat").chmod(0o755)
        (base / "link").symlink_to("work")
        environment = {"PATH": path.format(work=base / "work", base=base)}
        assert await use(Workspace(base / "work"), "cat f.txt", confined=True, environment=environment) == "hello\n"


@pytest.mark.parametrize("path", OWN_FOLDERS)
async def test_without_full_confinement_a_program_of_the_workspace_is_not_started_by_its_name(path: str) -> None:
    """Either the line needs approval, or its shell does not look into the workspace."""
    with place(None) as base:
        (base / "work/cat").write_text("#!/bin/sh\necho shadow\n")
        (base / "work/cat").chmod(0o755)
        (base / "link").symlink_to("work")
        environment = {"PATH": path.format(work=base / "work", base=base)}
        try:
            output = await use(
                Workspace(base / "work"), "cat f.txt", confined=True, environment=environment, kernel=Kernel()
            )
        except ToolError as error:
            output = error.reason.code
        assert "shadow" not in output


# a command that may write, but only here


async def test_a_command_that_is_kept_to_its_workspace_writes_there_and_nowhere_else() -> None:
    with place(None) as base:
        outside = tree(base / "home")
        workspace = Workspace(base / "work")
        inside = "echo x > f; mkdir -p a/b; mv f a/b; ln -s a l; chmod 700 a; touch -d 2001-01-01 a; cat a/b/f"
        assert await use(workspace, inside, sandbox="workspace") == "x\n"
        wanted = (
            f"echo x > ../new; echo x >> {base}/out.txt; rm -f {base}/out.txt; mkdir ../d; mv f.txt ..; ln f.txt ../h"
        )
        output = await use(workspace, wanted, sandbox="workspace")
        assert "only the workspace can be written" in output
        assert (base / "out.txt").read_text() == "planted outside\n"
        assert sorted(path.name for path in base.iterdir()) == ["home", "out.txt", "work"]
        assert tree(base / "home") == outside


async def test_a_workspace_command_has_a_temporary_folder_that_is_removed_with_it() -> None:
    with place(None) as base:
        workspace = Workspace(base / "work")
        command = 'echo x > "$TMPDIR/t" && cat "$TMPDIR/t" && mktemp | wc -l && stat -c %a "$TMPDIR"; echo "$TMPDIR"'
        *output, folder = (await use(workspace, command, sandbox="workspace")).split()
        assert output == ["x", "1", "700"]
        assert not Path(folder).exists()
        assert Path(folder).name.startswith("pilothouse-")


async def test_only_writable_additional_folders_are_written() -> None:
    with place(None) as base:
        (base / "open").mkdir()
        (base / "shut").mkdir()
        workspace = Workspace(base / "work", extra_roots=[Root(base / "open", True), Root(base / "shut")])
        output = await use(workspace, f"echo x > {base}/open/f; echo x > {base}/shut/f", sandbox="workspace")
        assert (base / "open/f").exists()
        assert not (base / "shut/f").exists()
        assert "refused" in output


# how far reading goes


async def test_a_folder_of_programs_does_not_open_its_siblings() -> None:
    """`~/.cargo/bin` is on many paths; `~/.cargo/credentials.toml` is a key."""
    with place(None) as base:
        for name in ("home/.cargo/bin/tool", "home/.cargo/credentials.toml", "other/bin/tool", "other/.ssh/id_rsa"):
            (base / name).parent.mkdir(parents=True, exist_ok=True)
            (base / name).write_text("#!/bin/sh\necho planted\n")
            (base / name).chmod(0o755)
        path = f"{base}/home/.cargo/bin:{base}/other/bin:{PATH}"
        environment = {"PATH": path, "HOME": str(base / "home")}
        looking = f"cat {base}/home/.cargo/credentials.toml; cat {base}/other/.ssh/id_rsa"
        with _home(base / "home"):
            workspace = Workspace(base / "work")
            assert "planted" in await use(workspace, "tool", confined=True, environment=environment)
            assert "planted" not in await use(workspace, looking, confined=True, environment=environment)


@contextlib.contextmanager
def _home(path: Path) -> Iterator[None]:
    before = os.environ.get("HOME")
    os.environ["HOME"] = str(path)
    try:
        yield
    finally:
        if before is not None:
            os.environ["HOME"] = before


async def test_a_workspace_whose_name_holds_a_line_end_opens_no_other_folder() -> None:
    """Paths are handed to the supervisor line by line."""
    with place(None) as base:
        root = Path(f"{base}/work/x\n{base}/home")
        root.mkdir(parents=True)
        (root / "f.txt").write_text("mine\n")
        output = await use(Workspace(root), f"cat f.txt; cat {base}/home/.ssh/id_rsa", confined=True)
        assert "planted" not in output
        assert "mine" in output
        await use(Workspace(root), f"echo x > {base}/home/new; echo x > here", sandbox="workspace")
        assert not (base / "home/new").exists()
        assert (root / "here").exists()


async def test_a_command_that_runs_without_approval_cannot_read_the_runtimes_data() -> None:
    """The data directory has the token, which allows to switch the mode."""
    with place(None) as base:
        (base / "work/data").mkdir()
        (base / "work/data/tokens.json").write_text('{"local": "planted"}')
        environment = CommandEnvironment.of({**os.environ, "PATH": PATH})
        workspace = Workspace(base / "work", private=[base / "work/data"], environment=environment)
        tool = Execute()
        for command in ("cat data/tokens.json", "cat *", "grep -r local .", "cat dat?/tok*"):
            prepared = await tool.prepare(ExecuteArguments(command), workspace)
            runs_by_itself = prepared.violation is None and prepared.effect == "read_only"
            output = await use(workspace, command, confined=True) if runs_by_itself else ""
            assert "planted" not in output, command
