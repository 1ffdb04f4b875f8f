"""Files that make programs run code: one list, reached by any path; and ordinary work, which needs no approval."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from pilothouse.domain.codes import Code
from pilothouse.domain.messages import Processing, ToolResult
from pilothouse.llm.script import Answer, ScriptedCall
from pilothouse.runtime.commands.calls import PersonsDecision
from pilothouse.sandbox.code_files import programs
from pilothouse.sandbox.workspace import Workspace
from pilothouse.testing.world import World
from pilothouse.tools.base import parse_arguments
from pilothouse.tools.builtin import builtin_tools
from tests.support.assertions import present
from tests.support.mcp_tools import world_with_tools

TOOLS = {tool.name: tool for tool in builtin_tools()}
DONE = Answer(text="done")
LISTED = sorted({path for program in programs() for path in program.paths})
DAILY = (
    *("package.json", "pyproject.toml", "setup.py", "conftest.py", "Makefile", "Dockerfile", "docker-compose.yml"),
    *("build.rs", "src/main.py", "README.md", "AGENTS.md", "CLAUDE.md", ".cursorrules", ".gitignore", ".env"),
    *(".eslintrc.json", ".prettierrc", "tsconfig.json", "vite.config.ts", "github/workflows/x", "vscode/tasks.json"),
    *("docs/.github.md", "gradle/libs.versions.toml", ".config/x.toml", "mise/en/place.md", "etc/x", "Cargo.toml"),
    *(".github/CODEOWNERS", ".github/dependabot.yml", "CMakeLists.txt", ".docker/php/Dockerfile", "npmrc", "x.npmrc"),
)


def example(path: str) -> str:
    """A file that the path means."""
    return (f"{path}x" if path.endswith("/") else path).replace("*", "x")


def needs_approval(workspace: Workspace, path: str) -> bool:
    reason = workspace.approval_reason(path)
    return reason is not None and reason.code is Code.RUNS_CODE


def test_every_listed_path_is_asked_for_at_any_depth_in_any_case_and_through_links(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    (tmp_path / "deep").mkdir()
    for number, path in enumerate(map(example, LISTED)):
        assert needs_approval(workspace, path), path
        assert needs_approval(workspace, f"a/b/{path.upper()}"), path
        assert needs_approval(workspace, f"deep/../{path}"), path
        (tmp_path / "deep" / f"{number}").symlink_to(f"../{path}")
        assert needs_approval(workspace, f"deep/{number}"), path
    folders = [path for path in LISTED if path.endswith("/")]
    for path in folders:
        assert needs_approval(workspace, path.rstrip("/")), path
        assert needs_approval(workspace, f"{path}a/b/c"), path


@pytest.mark.parametrize(
    "path",
    [".vs\u200ccode/tasks.json", "a/.ｖscode/tasks.json", ".NPMRC", ".npmrc\u200d", ".npmrc\ufe0f", ".vs\u034fcode/x"],
)
def test_a_name_that_a_file_system_may_take_for_a_listed_one_is_asked_for(tmp_path: Path, path: str) -> None:
    assert needs_approval(Workspace(tmp_path), path)


def test_a_name_that_a_file_system_may_take_for_git_is_refused(tmp_path: Path) -> None:
    assert Workspace(tmp_path).violation(".g\u200cit/config", writing=True) is not None


@pytest.mark.parametrize("path", DAILY)
def test_ordinary_files_need_no_approval(tmp_path: Path, path: str) -> None:
    assert not needs_approval(Workspace(tmp_path), path)


def test_the_location_of_the_workspace_does_not_make_its_files_listed(tmp_path: Path) -> None:
    root = tmp_path / ".vscode/extensions/mine"
    root.mkdir(parents=True)
    assert not needs_approval(Workspace(root), "src/extension.ts")
    assert needs_approval(Workspace(root), ".vscode/tasks.json")


def test_every_entry_names_its_program_and_where_that_is_documented() -> None:
    for program in programs():
        assert program.name
        titles = r"(documentation|manual|help|book|Book|guides|Learn|specification|org|of each( \w+)?)\b.*: ['.\w-]"
        assert re.search(titles, program.source), program.source
        assert all(re.fullmatch(r"[\w.*/@-]+", path) for path in program.paths), program.name
        assert program.paths, program.name
    assert len(LISTED) == sum(len(program.paths) for program in programs()), "a path is listed twice"


WRITING = (
    "echo x > .npmrc",
    "sort -uo.npmrc evil",
    "cp -rt.vscode evil",
    "curl -so.npmrc http://x",
    "git push --receive-pack='cp evil .npmrc;git-receive-pack' . HEAD:refs/heads/zz",
    "git fetch --upload-pack='cp evil .npmrc;x' .",
    "sed -n 1w.npmrc evil",
    "sed '/e/w.npmrc' evil",
    "find . -name .npmrc -prune -exec cp evil {} ;",
    "find . -not -not -name .npmrc -fprint x",
    "cp evil '!/../.npmrc'",
    "cp evil $'\\x{2e}npmrc'",
    "cp evil $'\\u002eexrc'",
    "echo x >> sub/.NPMRC",
    "echo x >| .npmrc",
    "echo x &> .npmrc",
    "echo x | tee -a .github/workflows/ci.yml",
    "cat <<EOF > .mise.toml\nx\nEOF",
    "cp a .vscode/",
    "cp evil/.npmrc .",
    "mv a .vscode/tasks.json",
    "sed -i s/a/b/ .gdbinit",
    "ln -s a .exrc",
    "dd if=a of=.npmrc",
    "git checkout HEAD -- .npmrc",
    "git add -v .npmrc > .npmrc",
    "rm -rf .idea",
    "chmod +x .husky/pre-commit",
    "curl -o .npmrc http://x",
    "find . -exec cp {} .npmrc ;",
    "ls | xargs cp -t .vscode",
    "cd .vscode && echo x > tasks.json",
    "cd sub && echo x > ../.npmrc",
    "env -C .vscode tee tasks.json",
    "env --chdir=.vscode tee tasks.json",
    "tar -C .vscode -xf a.tar tasks.json",
    "git -C .vscode checkout tasks.json",
    "git --work-tree .vscode checkout tasks.json",
    "ls | xargs -I{} cp {} .npmrc",
    "echo x > linked/tasks.json",
    "sh -c 'echo x > .npmrc'",
    "sudo tee .npmrc",
    "tee .n''pmrc",
    "echo x >> ~/.npmrc",
    "echo x >> /home/somebody/.bashrc",
    "cp x /home/somebody/.config/autostart/x.desktop",
    "echo x > /etc/cron.d/x",
)
HIDDEN = (
    # expansions
    "echo x > $PWD/.npmrc",
    'echo x > "${PWD}/.npmrc"',
    "echo x > $HOME/.config/autostart/x.desktop",
    "echo x > $(pwd)/.npmrc",
    "echo x > `pwd`/.npmrc",
    "echo x 1<> .npmrc",
    "cp a .npm{rc,x}",
    "cp a .{npmrc,x}",
    "cp a .{x,n{pm,x}rc}",
    "cp a .npmr?",
    "cp a .npm[r]c",
    "cp a .vsc*/tasks.json",
    "cp a lef*.yml",
    "rm *.yml",
    "cp a $'\\x2enpmrc'",
    "cp a $'\\056npmrc'",
    "cp a $'.npmr\\u0063'",
    "for f in .npmrc; do echo x > $f; done",
    "for f in a .npmrc b; do cp x $f; done",
    "D=.vscode; echo x > $D/tasks.json",
    "D=.vscode; echo x > ${D}/tasks.json",
    "d=.vscode && cp a $d/tasks.json",
    "a=.np b=mrc; cp x $a$b",
    "f=.npm; f+=rc; cp x $f",
    "cp x ${f:-.npmrc}",
    "files=(.npmrc); cp x ${files[0]}",
    "export D=.vscode; cp a $D/tasks.json",
    "read f <<< .npmrc; cp x $f",
    "while read f; do cp x $f; done <<< .npmrc",
    "while read f; do cp x $f; done <<EOF\n.npmrc\nEOF",
    "ls .npmrc | while read f; do cp x $f; done",
    "command read f <<< .npmrc; cp x $f",
    "echo .npmrc | while command read f; do cp x $f; done",
    "echo .npmrc | tee$x | xargs cp a",
    "/opt/x/env tee .npmrc",
    "/opt/x/sudo crontab x",
    "cd .husky && cp ../x pre-commit; npm pre-commit",
    "cd .husky && cp ../x pre-push; make pre-push",
    "cd begun; echo x > HEAD; cp a b",
    "cd sub; cd ..; cd .vscode; cp ../a tasks.json",
    "cd sub && cd ../.vscode && cp ../a tasks.json",
    "cp a $IFS.npmrc",
    'cd "$PWD/.vscode" && cp ../a tasks.json',
    "cd .github/workflows && cp ../../x *.yml",
    "cd .github && cp ../x w*/ci.yml",
    "cd .github && cd work* && cp ../../a b",
    "cd .husky && cp ../x pre-commi?",
    "cd sub; cd ../.vscode; cp ../x setting?.json",
    "tar -C .vscode -xf a.tar setting[s].json",
    "d=.vscode; cd $d; cp ../a tasks.json",
    "cd .vsc* && cp ../a tasks.json",
    'git commit -m "$(cp a .npmrc)"',
    "git add $(cp a .npmrc)",
    'test -f "$(cp a .npmrc)" && make',
    "cat() { cp a $1; }; cat .npmrc",
    "cat .npmrc 2> .npmrc",
    "{ echo x; } > .n''pmrc",
    "(cd .vscode; cat a > tasks.json)",
    "ls; ln -s .vscode x; cp a x/tasks.json",
    "flake8 --output-file .npmrc src",
    "cp x $(echo .npmrc)",
    "f=$(echo .npmrc); cp x $f",
    "cat .npmrc > .npmrc",
    "cat $(cp a .npmrc)",
    "diff a <(tee .npmrc)",
    "find . | tee $PWD/.npmrc",
    # programs
    "echo .npmrc | xargs cp a",
    "echo .npmrc | xargs -I{} cp a {}",
    "printf '.npmrc' | cpio -o",
    "uniq a .npmrc",
    "shuf -o .npmrc a",
    "shuf -o.npmrc a",
    "sort --output=.npmrc a",
    "iconv -f utf8 -o .npmrc a",
    "xxd -r a .npmrc",
    "xxd a .npmrc",
    "find . -fprint .npmrc",
    "find . -name .npmrc -delete",
    "sed -n 'w .npmrc' a",
    "sed -n 'w.npmrc' a",
    "sed -n 's/a/b/w .npmrc' a",
    "awk '{print > \".npmrc\"}' a",
    "cmake -E copy a .npmrc",
    "vim -es -c 'w .npmrc' a",
    "ex -sc 'w! .npmrc|q' a",
    "python3 -c \"open('.npmrc','w').write('x')\"",
    "python3 - <<'EOF'\nopen('.npmrc', 'w')\nEOF",
    "bash <<'EOF'\necho x > .npmrc\nEOF",
    "cd .github && python3 - <<< \"open('workflows/a.yml', 'w')\"",
    "cd .github && awk '{print > \"workflows/a.yml\"}' ../a",
    "env -C .github sed -n 'w workflows/a.yml' ../a",
    "cd .github && make -f - <<< 'x: ; cp a workflows/ci.yml'",
    "sh -c 'cp a .npm{rc,x}'",
    "node -e 'fs.writeFileSync(`.npmrc`, `x`)'",
    "git mv a .npmrc",
    "git log --output=.npmrc",
    "git archive -o .npmrc HEAD",
    "pylint --output .npmrc src",
    "eslint --fix .eslintrc.js",
    "npx prettier --write .vscode/settings.json",
    "make && cp a .npmrc # cat .npmrc",
    # scripts and lists that the line writes itself
    "echo 'cp evil .npmrc' > s.sh; sh s.sh",
    "echo 'cp evil .npmrc' > s.sh && chmod +x s.sh && ./s.sh",
    "printf 'cp evil .npmrc' | tee s.sh; bash ./s.sh",
    "cat > s.py <<'EOF'\nopen('.npmrc', 'w')\nEOF\npython3 s.py",
    "echo 'cp evil .npmrc' > s; source ./s",
    "echo 'cp evil .npmrc' > s; cat s | sh",
    "echo 'cp evil .npmrc' > s; bash < s",
    "echo .npmrc > list; xargs touch < list",
    "echo .npmrc > list; cat list | xargs touch",
    "echo .npmrc > list; while read f; do cp x $f; done < list",
    "printf 'x:\\n\\tcp evil .npmrc' > Makefile; make x",
    "cd sub && echo 'cp evil ../.npmrc' > s.sh && sh s.sh",
    # settings
    "git config core.hooksPath evil",
    "git config --global core.hooksPath evil",
    "git config set core.fsmonitor ./x",
    "git config alias.st '!x'",
    "git config include.path ../x",
    "git config core.sshCommand x",
    "git config --add core.editor x",
    "git config core.pager x",
    "git config filter.x.clean y",
    "git config diff.x.textconv y",
    "git config credential.helper '!x'",
    "git config --edit",
    "git config core.hooksPath list",
    "git config core.hooksPath get",
    "git config core.hooksPath --list && make",
    "git config core.hooksPath -l && make",
    "git config core.hooksPath --get && make",
    "git config set core.fsmonitor get",
    "git config set core.fsmonitor list",
    "git config set --comment user.name core.pager x",
    "git config --type user.name core.pager x",
    "git config --file --list core.pager x",
    "git config --rename-section color.x core",
    "git config --global core.pager list",
    "/usr/bin/git config core.hooksPath x",
    "/opt/git/bin/git config core.hooksPath x",
    "/usr/bin/crontab x",
    "crontab -u -l x",
    "./node_modules/.bin/husky init",
    "npx -p husky husky init",
    "npx husky",
    "npx --yes husky@latest init",
    "npm exec -- husky@9.1 init",
    "python3 -m pre_commit install",
    "pipx run pre-commit install",
    "pip3.11 config set a b",
    "python3.11 -m pip config set a b",
    "python3 -I -m pip --isolated config set a b",
    "npm --prefix . config set script-shell ./x",
    "npm --prefix=. config set script-shell ./x",
    "npm -g --prefix . set script-shell ./x",
    "npm c set script-shell ./x",
    "npm config $x script-shell ./x",
    "corepack pnpm -C . config set script-shell ./x",
    "/usr/local/bin/pre-commit --color never install",
    "git config $name x",
    "git -C sub config core.hooksPath evil",
    "git -c color.ui=never config core.hooksPath evil",
    "git clone -c core.hooksPath=x url",
    "git clone --config core.hooksPath=x url",
    "git clone --template=evil url",
    "git init --template evil",
    "git submodule add url x",
    "git lfs install",
    "npm config set script-shell ./x",
    "pip config set global.index-url x",
    "npx husky init",
    "pre-commit install",
    "direnv allow",
    "crontab x",
    "sudo crontab x",
    "echo x > bare/config",
    "cp a bare/hooks/post-update",
    "echo x > bare/HEAD",
    "cp a begun/HEAD",
    "cd begun && cp ../a HEAD",
    "echo x > mypy.ini",
)
NOT_WRITING = (
    "git config user.name x && git commit -am y",
    "git config --global user.email x@example.org; make",
    "git config set pull.rebase true",
    "git config --get core.hooksPath && make",
    "git config core.hooksPath; make",
    "git config list && make",
    "git config --global get user.name && make",
    "git config --file .gitmodules --get-regexp path && make",
    "git --no-pager diff config && make",
    "git -C config status && make",
    "/usr/bin/git config user.name x && make",
    "/usr/bin/crontab -l > jobs.txt",
    "crontab -u me -l > jobs.txt",
    "npm --prefix sub run build",
    "npm --prefix . config get registry; npm ci",
    "npm config get $x && make",
    "npm install husky",
    "pip3.11 install -r requirements.txt",
    "git clone url && cd url && make",
    "git clone -c color.ui=never url",
    "git submodule update --init",
    "git worktree add ../x",
    "git init x",
    "npm config get registry; npm ci",
    "crontab -l > jobs.txt",
    "pre-commit run --all-files",
    "echo x > sub/config",
    "cd begun && git reset HEAD a && git checkout HEAD -- b",
    "gh pr create --title x --body 'ci: .github/workflows/ci.yml'",
    "cat .npmrc && make",
    "test -f .npmrc && npm ci",
    "if [ -d .husky ]; then npm run prepare; fi",
    "grep -r npm .npmrc .github/workflows > found.txt",
    "cat .vscode/settings.json | grep x | tee out.txt && make",
    "git diff .vscode && git commit -am x",
    'git commit -m "ci: say what .github/workflows/ci.yml does"',
    "git commit -m \"$(cat <<'EOF'\nnpm: drop .npmrc\nEOF\n)\"",
    "cat > README.md <<'EOF'\nPut the token into .npmrc\nEOF",
    "tee README.md <<'EOF'\nPut the token into .npmrc\nEOF",
    "echo 'see .npmrc' >> README.md",
    "echo 'see .npmrc' >> README.md && git add README.md && git commit -m x && sh build.sh",
    "cat > s.py <<'EOF'\nprint('a')\nEOF\npython3 s.py && cat .npmrc | grep x",
    "echo 'see .npmrc' > notes.txt; python3 build.py; wc -l notes.txt",
    "source .venv/bin/activate && pylint --rcfile=.pylintrc src",
    "export CI=1; git add .npmrc",
    "NODE_ENV=test npx eslint --config eslint.config.js src",
    "python3 -m mypy .github/scripts",
    "yamllint .github/workflows/ci.yml",
    "uv run pre-commit run --config .pre-commit-config.yaml",
    "cd .github/workflows && ls && cd ../.. && npm test",
    "cd .github && python3 - <<< \"open('dependabot.yml', 'w')\"",
    "find . -not -path './.git/*' -name '*.py' -exec sed -i s/a/b/ {} +",
    "find . -path ./.idea -prune -o -name '*.py' -exec sed -i s/a/b/ {} +",
    "grep -rl foo --exclude-dir=.git --exclude-dir=.idea . | xargs sed -i s/foo/bar/",
    "rsync -a --exclude=.vscode src/ out/",
    "rm -f *.txt",
    "python3 build.py < .npmrc",
    "make  # as .gitlab-ci.yml does",
    "while read f; do echo $f; done < .npmrc",
    "cat .npmrc",
    "ls -la .vscode",
    "git add .npmrc",
    "git add .github/workflows/ci.yml && git commit -m 'ci: x'",
    "npx eslint -c eslint.config.js src",
    "pylint --rcfile=.pylintrc src",
    "npm install",
    "make test",
    "echo x > package.json",
    "sed -i s/a/b/ src/main.py",
    "python3 -m pytest tests > out.txt",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (".vscode", "sub", "evil"):
        (tmp_path / name).mkdir()
    (tmp_path / "linked").symlink_to(".vscode")
    (tmp_path / ".github/workflows").mkdir(parents=True)
    (tmp_path / ".husky").mkdir()
    for name in ("lefthook.yml", ".github/workflows/ci.yml", ".husky/pre-commit", ".vscode/settings.json"):
        (tmp_path / name).write_text("x\n")
    for name in ("bare/objects", "bare/refs", "begun/hooks"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


async def asks_for_approval(folder: Path, command: str) -> bool:
    arguments = parse_arguments("execute", TOOLS["execute"].parameters, {"command": command})
    prepared = await TOOLS["execute"].prepare(arguments, Workspace(folder))
    assert prepared.violation is None
    return prepared.ask is not None and prepared.ask.code is Code.RUNS_CODE


@pytest.mark.parametrize("command", WRITING)
async def test_a_command_that_plainly_writes_a_code_file_asks(folder: Path, command: str) -> None:
    assert await asks_for_approval(folder, command)


@pytest.mark.parametrize("command", HIDDEN)
async def test_a_command_whose_text_shows_a_write_to_a_code_file_asks(folder: Path, command: str) -> None:
    assert await asks_for_approval(folder, command)


@pytest.mark.parametrize("command", NOT_WRITING)
async def test_a_command_that_reads_or_commits_a_code_file_does_not_ask(folder: Path, command: str) -> None:
    assert not await asks_for_approval(folder, command)


async def test_no_mode_or_rule_lets_a_command_write_a_code_file_without_approval(folder: Path) -> None:
    call = ScriptedCall(tool="execute", arguments={"command": "echo x > .npmrc"})
    world = World(folder, Answer(text="I write", calls=(call,)), DONE, tools=list(TOOLS.values()))
    context_id = await world.start("agent")
    await world.turn(context_id)
    (pending,) = await world.runtime.calls.pending(context_id)
    assert present(pending.reason).code is Code.RUNS_CODE
    assert await world.runtime.rules.offers(context_id, pending.id) == []
    assert not (folder / ".npmrc").exists()


async def test_a_link_that_appears_after_the_decision_leads_nowhere(folder: Path) -> None:
    """The gate decides both calls before the first one runs."""
    calls = (
        ScriptedCall(tool="execute", arguments={"command": "ln -s .vscode here"}),
        ScriptedCall(tool="write_file", arguments={"path": "here/tasks.json", "content": "{}"}),
    )
    world = World(folder, Answer(text="I do", calls=calls), DONE, tools=list(TOOLS.values()))
    context_id = await world.start("supervised")
    await world.turn(context_id)
    link, write = await world.runtime.calls.pending(context_id)
    os.symlink(".vscode", folder / "here")
    decisions = [
        PersonsDecision(id=link.id, verdict="reject"),
        PersonsDecision(id=write.id, verdict="approve", digest=write.digest),
    ]
    await world.runtime.calls.decide(context_id, decisions)
    await world.runtime.turns.rested(context_id)
    assert not (folder / ".vscode/tasks.json").exists()


async def notices(folder: Path, command: str, mode: str = "agent") -> tuple[str, list[str]]:
    """The notices about a command: for the model, and as paths for the person. Waiting calls are approved."""
    data = folder.parent / f"{folder.name}-data"
    data.mkdir()
    call = ScriptedCall(tool="execute", arguments={"command": command})
    world = world_with_tools(data, Answer(text="I do", calls=(call,)), DONE, workspace=folder)
    async with world.runtime:
        context_id = await world.start(mode)
        await world.turn(context_id)
        for pending in await world.runtime.calls.pending(context_id):
            decision = PersonsDecision(id=pending.id, verdict="approve", digest=pending.digest)
            await world.runtime.calls.decide(context_id, [decision])
            await world.runtime.turns.rested(context_id)
        messages = await world.runtime.messages.read(context_id)
    (result,) = (each for each in messages if isinstance(each, ToolResult))
    remarks = (each for each in messages if isinstance(each, Processing) and each.stage == Code.CODE_FILES_CHANGED)
    return result.content, [each.detail["params"]["paths"] for each in remarks]


async def test_code_files_that_a_script_changed_are_reported_to_the_model_and_the_person(folder: Path) -> None:
    (folder / "write.py").write_text("open('.npm' + 'rc', 'w').write('x'); open('.vscode/' + 'tasks.json', 'w')")
    content, paths = await notices(folder, "python3 write.py")
    assert "files that make your programs run code: .npmrc, .vscode/tasks.json" in content
    assert paths == [".npmrc, .vscode/tasks.json"]


async def test_a_listed_file_that_git_ignores_is_reported_too(folder: Path) -> None:
    (folder / ".gitignore").write_text(".vscode/\n")
    (folder / "write.py").write_text("open('.vscode/' + 'tasks.json', 'w').write('x')")
    assert (await notices(folder, "python3 write.py"))[1] == [".vscode/tasks.json"]


async def test_a_script_that_changes_the_programs_of_git_is_reported(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / "write.py").write_text("open('.gi' + 't/hooks/pre-commit', 'w').write('x')")
    assert (await notices(folder, "python3 write.py"))[1] == [".git/hooks/pre-commit"]


async def test_a_hook_of_a_repository_that_a_command_created_is_reported(folder: Path) -> None:
    (folder / "write.py").write_text("open('sub/.gi' + 't/hooks/pre-commit', 'w').write('x')")
    assert (await notices(folder, "git init -q sub && python3 write.py"))[1] == ["sub/.git/hooks/pre-commit"]


SETTINGS_IN_STATE = (".gradle/init.d/x.gradle", ".gradle/init.gradle", ".hg/hgrc", ".jj/repo/config.toml")


async def test_settings_among_the_state_of_other_tools_are_reported(folder: Path) -> None:
    make_folder = "os.makedirs(os.path.dirname(path), exist_ok=True)"
    loop = f"for path in sys.stdin.read().split(): {make_folder}; open(path, 'w')"
    (folder / "write.py").write_text(f"import os, sys\n{loop}")
    (folder / "names").write_text(
        "\n".join((*SETTINGS_IN_STATE, ".hg/store/data", ".jj/repo/op_store/x", ".gradle/8/x.bin"))
    )
    assert (await notices(folder, "python3 write.py < names"))[1] == [", ".join(SETTINGS_IN_STATE)]


async def test_settings_of_git_that_hold_data_are_not_reported(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    settings = (
        "core.autocrlf input",
        "user.name x",
        "core.filemode false",
        "branch.a.merge refs/heads/a",
        "pull.rebase true",
    )
    command = "; ".join(["git remote add origin https://example.org/a", *(f"git config {each}" for each in settings)])
    assert (await notices(folder, command))[1] == []


@pytest.mark.parametrize(
    "command",
    ["echo x > .npmrc", "cd .vscode && echo x > tasks.json", "git config core.pager less", "cp a.txt ./sub/../.npmrc"],
)
@pytest.mark.parametrize("mode", ["agent", "supervised"])
async def test_a_file_shown_in_the_approval_is_not_reported_again(folder: Path, command: str, mode: str) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / "a.txt").write_text("x")
    assert (await notices(folder, command, mode))[1] == []


async def test_a_file_that_an_approved_command_does_not_show_is_reported(folder: Path) -> None:
    (folder / "write.py").write_text("open('.vscode/' + 'tasks.json', 'w').write('x')")
    assert (await notices(folder, "echo x > .npmrc; python3 write.py"))[1] == [".vscode/tasks.json"]


async def test_a_bare_repository_that_a_script_creates_is_reported(folder: Path) -> None:
    (folder / "write.py").write_text("for name in ('HEAD', 'config'): open('sub/' + name, 'w').write('x')")
    assert (await notices(folder, "python3 write.py"))[1] == ["sub/HEAD, sub/config"]


async def test_ordinary_changes_are_not_reported_as_code_files(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / "write.py").write_text(
        "import os; os.makedirs('node_modules/a'); open('node_modules/a/.eslintrc.js', 'w')"
    )
    content, paths = await notices(folder, "python3 write.py && git checkout -q -b x && echo x > package.json")
    assert "run code" not in content
    assert paths == []
