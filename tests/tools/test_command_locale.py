"""A command line is judged as UTF-8: the shell that runs it reads it so, whatever the person's locale is."""

import os
from pathlib import Path

import pytest

from pilothouse.domain.values import CallId
from pilothouse.sandbox.workspace import Workspace
from pilothouse.tools.base import Job
from pilothouse.tools.builtin.execute import Execute, ExecuteArguments

OTHER_SETS = ("zh_CN.GBK", "zh_CN.GB18030", "zh_TW.BIG5", "ja_JP.SJIS", "zh_CN", "en_US.ISO-8859-1", "de_DE@euro")
UTF_8 = ("zh_CN.UTF-8", "en_US.utf8", "C.UTF-8", "C", "POSIX", "UTF-8", "zh-Hans_CN.UTF-8", "sr_RS.UTF-8@latin")


async def locale_of_a_command(folder: Path, variable: str, locale: str) -> str:
    execute = Execute({"PATH": os.environ["PATH"], "HOME": str(folder), variable: locale})
    job = Job(call_id=CallId("call"), workspace=Workspace(folder), seconds=20)
    output = await execute.run(ExecuteArguments(command=f"printenv {variable}"), job)
    return str(output.content).splitlines()[-1]


@pytest.mark.parametrize("variable", ["LC_ALL", "LC_CTYPE", "LANG"])
async def test_a_command_runs_in_utf8_where_the_persons_locale_has_another_character_set(
    tmp_path: Path, variable: str
) -> None:
    for locale in OTHER_SETS:
        assert await locale_of_a_command(tmp_path, variable, locale) == "C.UTF-8", locale


async def test_a_command_keeps_a_locale_in_utf8(tmp_path: Path) -> None:
    for locale in UTF_8:
        assert await locale_of_a_command(tmp_path, "LC_ALL", locale) == locale
