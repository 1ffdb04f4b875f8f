"""A command line is classified as UTF-8: the shell that runs it reads it so, whatever the person's locale is."""

import os
from pathlib import Path

import pytest

from pilothouse.domain.value import CallId
from pilothouse.sandbox.command_environment import CommandEnvironment
from pilothouse.sandbox.locales import reads_utf8
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import ToolContext
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments

OTHER_SETS = ("zh_CN.GBK", "zh_CN.GB18030", "zh_TW.BIG5", "ja_JP.SJIS", "zh_CN", "en_US.ISO-8859-1", "de_DE@euro")
INSTALLED = ("C.UTF-8", "C", "POSIX")
NOT_INSTALLED = ("xx_XX.UTF-8", "xx_XX.utf8@latin")
UTF_8 = ("zh_CN.UTF-8", "en_US.utf8", "C.UTF-8", "C", "POSIX", "UTF-8", "zh-Hans_CN.UTF-8", "sr_RS.UTF-8@latin")


async def locale_of_a_command(folder: Path, variable: str, locale: str) -> str:
    environment = CommandEnvironment.of({"PATH": os.environ["PATH"], "HOME": str(folder), variable: locale})
    job = ToolContext(call_id=CallId("call"), workspace=Workspace(folder, environment=environment), seconds=20)
    output = await Execute().run(ExecuteArguments(command=f"printenv {variable}"), job)
    return str(output.content).splitlines()[-1]


@pytest.mark.parametrize("variable", ["LC_ALL", "LC_CTYPE", "LANG"])
async def test_a_command_runs_in_utf8_where_the_persons_locale_has_another_character_set(
    tmp_path: Path, variable: str
) -> None:
    for locale in OTHER_SETS:
        assert await locale_of_a_command(tmp_path, variable, locale) == "C.UTF-8", locale


def test_the_name_of_a_locale_says_whether_it_reads_utf8() -> None:
    assert [name for name in UTF_8 if not reads_utf8(name)] == []


async def test_a_command_keeps_an_installed_locale_in_utf8(tmp_path: Path) -> None:
    for locale in INSTALLED:
        assert await locale_of_a_command(tmp_path, "LC_ALL", locale) == locale
        assert await locale_of_a_command(tmp_path, "LANG", locale) == locale
    assert CommandEnvironment.of({"LC_ALL": ""}).inherited["LC_ALL"] == ""


async def test_a_command_gets_no_locale_that_is_not_installed(tmp_path: Path) -> None:
    for locale in NOT_INSTALLED:
        assert await locale_of_a_command(tmp_path, "LC_ALL", locale) == "C.UTF-8", locale
    environment = CommandEnvironment.of({"PATH": os.environ["PATH"], "LC_ALL": NOT_INSTALLED[0]})
    job = ToolContext(call_id=CallId("call"), workspace=Workspace(tmp_path, environment=environment), seconds=20)
    output = await Execute().run(ExecuteArguments(command="bash -c 'echo done'"), job)
    assert "setlocale" not in str(output.content)


@pytest.mark.parametrize("variables", [{}, {"LANG": "C"}, {"LC_CTYPE": "POSIX"}, {"LC_ALL": "", "LANG": ""}])
def test_a_command_reads_utf8_where_no_locale_with_letters_is_set(variables: dict[str, str]) -> None:
    assert CommandEnvironment.of(variables).inherited["LC_CTYPE"] == "C.UTF-8"


@pytest.mark.parametrize("variables", [{"LC_ALL": "C"}, {"LANG": "C.UTF-8"}])
def test_a_command_keeps_the_character_set_that_the_locale_names(variables: dict[str, str]) -> None:
    assert "LC_CTYPE" not in CommandEnvironment.of(variables).inherited
