"""Options of a program before its subcommand change neither the marks of its danger nor the rules that hold for it."""

import pytest

from pilothouse.domain.command_line import may_contain_command, starts_with_words
from pilothouse.sandbox.shell import classify
from pilothouse.sandbox.shell.config_commands import written_setting
from pilothouse.tools.command.git_clean import git_clean
from pilothouse.tools.command.git_settings import git_command

GIT_OPTIONS = (
    *("-c a.b=c", "-C a -C b", "--git-dir=.git", "--git-dir .git", "--work-tree=.", "--bare", "--namespace x", "-p"),
    *("--no-advice", "--icase-pathspecs", "--exec-path=x", "--config-env=a.b=C", "--attr-source HEAD", "-C . -c a.b=c"),
    *("--no-pager -c a.b=c", "-c a.b=c --no-pager -C .", "--unknown", "--unknown value", "-c $x", "$x", "-C $x -c a=b"),
)
GIT_COMMANDS = {
    "push": "network",
    "clean -fdx": "delete",
    "reset --hard": "delete",
    "gc": "delete",
    "checkout .": "overwrite",
    "stash": "overwrite",
    "submodule update": "network",
}
OTHERS = {
    "npm --prefix x publish": "npm publish",
    "npm -s -w x install": "npm install",
    "pnpm -r --filter x publish": "pnpm publish",
    "yarn --cwd x add y": "yarn add",
    "docker -H tcp://x push y": "docker push",
    "docker --context=x push y": "docker push",
    "kubectl -n x delete pod": "kubectl delete",
    "kubectl --unknown x delete pod": "kubectl delete",
    "cargo +nightly publish": "cargo publish",
    "cargo --locked install x": "cargo install",
    "pip --no-cache-dir install x": "pip install",
    "pip3.11 --proxy x install y": "pip3.11 install",
    "go -C x generate": "go generate",
    "make -C x deploy": "make deploy",
    "make -k -j4 deploy": "make deploy",
    "systemctl --user stop x": "systemctl stop",
    "terraform -chdir=x apply": "terraform apply",
    "apt-get -y install x": "apt-get install",
    "uv --offline pip install": "uv pip",
}


@pytest.mark.parametrize("options", GIT_OPTIONS)
@pytest.mark.parametrize("command", GIT_COMMANDS)
def test_a_command_of_git_keeps_its_marks_behind_any_options(command: str, options: str) -> None:
    assert GIT_COMMANDS[command] in classify(f"git {options} {command}").dangers


@pytest.mark.parametrize("options", GIT_OPTIONS)
def test_a_rule_on_a_command_of_git_holds_behind_any_options(options: str) -> None:
    line = classify(f"git {options} push origin main").line
    assert may_contain_command(line, ("git", "push")) == "yes"
    assert may_contain_command(line, ("git", "pull")) != "no"


@pytest.mark.parametrize("options", GIT_OPTIONS)
def test_options_that_may_start_anything_still_do(options: str) -> None:
    assert classify(f"git {options} log").hidden != "no"
    assert not classify(f"git {options} log").read_only


@pytest.mark.parametrize("line", OTHERS)
def test_a_rule_holds_behind_the_options_of_a_program(line: str) -> None:
    assert may_contain_command(classify(line).line, tuple(OTHERS[line].split())) == "yes"


@pytest.mark.parametrize(
    "line", ["pnpm -r test", "npm --prefix x test", "npm -s run build", "pip -q list", "docker -H x ps", "go -C x fmt"]
)
def test_options_of_a_program_are_not_its_subcommand(line: str) -> None:
    assert classify(line).dangers == ()


@pytest.mark.parametrize("line", ["npm $x test", "pip $x list", "docker --unknown x pull y", "npm --unknown install x"])
def test_a_mark_stays_where_the_subcommand_is_unknown(line: str) -> None:
    assert "network" in classify(line).dangers


def test_every_reader_of_git_commands_skips_the_same_options() -> None:
    options = ("--no-advice", "--attr-source", "HEAD", "-c", "a.b=c", "--super-prefix=x")
    assert git_clean(("git", *options, "clean", "-fdx")) is not None
    assert written_setting(("git", *options, "config", "core.pager", "x")) == ".git/config"
    assert git_command(("git", *options, "status")) is None
    command = git_command(("git", "-C", "a", "--no-pager", "-C", "b", "status", "-s"))
    assert command is not None
    assert (command.folder, command.name, command.args) == ("./a/b", "status", ("-s",))


def test_a_rule_that_allows_a_whole_program_allows_it_with_options() -> None:
    line = classify("npm --prefix x test").line
    assert starts_with_words(line, ("npm",))
    assert not starts_with_words(line, ("npm", "test")), "the rule was made for another folder"
    assert starts_with_words(classify("git -c a.b=c push").line, ("git",))
    assert not starts_with_words(classify("bash -c 'npm test'").line, ("npm", "test"))
    assert not starts_with_words(classify("bash -c 'npm test'").line, ("bash",))
