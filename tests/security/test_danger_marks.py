"""The marks on the card of a command name its effects, and no others."""

import pytest

from pilothouse.sandbox.shell import classify

MARKED = {
    "network": (
        *(
            "npm install",
            "npm ci",
            "npm",
            "npx x",
            "pip install x",
            "pip download x",
            "uv sync",
            "cargo build",
            "go get x",
        ),
        *("docker pull x", "docker build .", "curl http://x", "git fetch", "git clone x", "git remote update"),
        *("git submodule update --init", "npm $x", "pip $x list", "ssh host", "kubectl get pods"),
        *("pip3.11 install x", "/opt/python/bin/pip3 install x", "./node_modules/.bin/npm ci", "/opt/git/bin/git push"),
    ),
    "privilege": (
        *("chmod 777 f", "chmod 666 f", "chmod 4755 f", "chmod u+s f", "chmod g+s f", "chmod +t f", "chmod a+w f"),
        *("chmod o+w f", "chmod ugo+rwx f", "chmod a=rw f", "chmod u+x,o+w f", "chmod $x f", "chmod --reference=a f"),
        *("chmod -R 777 .", "chown a f", "sudo ls", "chmod 1777 f", "chmod 2755 f"),
    ),
    "overwrite": (
        *("git checkout main", "git checkout -- f", "git checkout -B x", "git checkout -f", "git checkout -b x -f"),
        *(
            "git checkout $x",
            "git switch -f main",
            "git switch -C x",
            "git switch --discard-changes x",
            "git restore f",
        ),
        *(
            "git apply x.patch",
            "git stash",
            "git merge x",
            "git rebase x",
            "cp a b",
            "cp -f a b",
            "mv a b",
            "ln -sf a b",
        ),
        *(
            "cp $x b",
            "cp -n $x b",
            "cp -nf a b",
            "ln --force a b",
            "tee f",
            "ls > f",
            "ls >| f",
            "ls &> f",
            "ls >> f 2> g",
        ),
    ),
    "delete": (
        *("git clean -fd", "git clean -f", "git clean $x", "git rm f", "git reset --hard", "git reset --har HEAD"),
        *("git reset --keep x", "git reset --merge", "git reset $x", "git gc", "rm f", "find . -delete"),
        *("/opt/bin/rm f", "/opt/bin/env rm f"),
    ),
}
UNMARKED = {
    "network": (
        *("npm test", "npm run build", "npm ls", "yarn test", "pnpm run x", "pip list", "pip show x", "pip freeze"),
        *("pip3 list", "pip3.11 list"),
        *("cargo fmt", "go fmt ./...", "docker ps", "docker logs x", "git remote add x y", "git submodule status"),
        *("git status", "git commit -m x"),
    ),
    "privilege": (
        *("chmod 644 f", "chmod 0644 f", "chmod 755 f", "chmod +x f", "chmod u+x f", "chmod a+x f", "chmod -x f"),
        *("chmod -R 755 d", "chmod go-w f", "chmod o-w f", "chmod u=rw,go=r f", "chmod a-w f", "chmod u+w f"),
    ),
    "overwrite": (
        *("git checkout -b x", "git checkout -b x main", "git switch -c x", "git switch main", "git apply --check x"),
        *("ls >> f", "ls &>> f", "ls | tee -a f", "cp -n a b", "mv -n a b", "ln -s a b", "git stash list"),
    ),
    "delete": (
        *("git clean -n", "git clean -nd", "git clean --dry-run", "git rm --cached f", "git rm -n f", "git reset"),
        *("git reset HEAD f", "git reset --soft HEAD~1", "git reset --mixed HEAD~1"),
    ),
}


@pytest.mark.parametrize("mark", MARKED)
def test_dangerous_effects_of_a_command_are_marked(mark: str) -> None:
    assert [command for command in MARKED[mark] if mark not in classify(command).dangers] == []


@pytest.mark.parametrize("mark", UNMARKED)
def test_a_command_without_a_dangerous_effect_is_not_marked(mark: str) -> None:
    assert [command for command in UNMARKED[mark] if mark in classify(command).dangers] == []


@pytest.mark.parametrize("program", ["python3", "python3.11", "pypy3.10", "ruby3.2", "/usr/bin/python3"])
def test_no_rule_is_offered_for_an_interpreter_of_any_version(program: str) -> None:
    assert classify(f"{program} build.py").leading == ()
