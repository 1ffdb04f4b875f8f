"""The marks on the card of a command name its effects, and no others."""

from random import Random

import pytest

from pilothouse.sandbox.shell import classify
from pilothouse.sandbox.shell.classify import MAX_TEXTS
from pilothouse.sandbox.shell.command_table import _TABLE
from pilothouse.sandbox.shell.dangers import _FETCHING
from pilothouse.sandbox.shell.global_options import PROGRAM_OPTIONS
from pilothouse.sandbox.shell.program_dangers import _MARKS
from pilothouse.sandbox.shell.wrappers import WRAPPERS

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
        *(
            "python3 -m pip install x",
            "python3 -W ignore -mpip install x",
            "python -I -m pip download x",
            "python3.11 -m http.server",
            "python3 -m pipx run x",
        ),
        *("git lfs pull", "git archive --remote=h HEAD", "git send-email x", "git subtree pull x", "git svn fetch"),
        *("socat - TCP:x:1", "aws s3 cp a s3://x", "gh pr create", "rclone copy a b", "bunx x", "poetry add x"),
        *("conda install x", "bundle install", "composer install", "apk add x", "terraform apply", "nmap x"),
        *("docker compose pull", "docker-compose up", "docker image pull x", "rsync a h:b", "pnpm -r install"),
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
        *(
            "curl -o f http://x",
            "curl -sSLo f http://x",
            "curl --output=f http://x",
            "curl -O http://x/f",
            "curl -c f x",
        ),
        *("curl -fsSLO x", "wget -O f http://x", "wget -qOf x", "scp h:f g", "rsync -a h:f g", "rsync -a a/ b/"),
        *("git push --force", "git push -fu origin x", "git push --force-with-lease", "git push origin +main"),
        *(
            "git branch -f x",
            "git branch -M x",
            "git tag -f v1",
            "git read-tree -u --reset HEAD",
            "git archive -o f HEAD",
        ),
        *("install a b", "install -m 755 a b", "patch -p1 < f", "gzip -f f", "gunzip --force f.gz", "sponge f"),
        *("docker cp x:f f", "sh <<E\nls > f\nE", "bash <<< 'mv a b'"),
    ),
    "delete": (
        *("git clean -fd", "git clean -f", "git clean $x", "git rm f", "git reset --hard", "git reset --har HEAD"),
        *("git reset --keep x", "git reset --merge", "git reset $x", "git gc", "rm f", "find . -delete"),
        *("/opt/bin/rm f", "/opt/bin/env rm f"),
        *(
            "git branch -D x",
            "git branch --delete --force x",
            "git branch -df x",
            "git tag -d v1",
            "git tag --delete v1",
        ),
        *("git update-ref -d refs/heads/x", "git worktree remove --force x", "git worktree remove x", "git stash drop"),
        *("git stash clear", "git reflog expire --all", "git submodule deinit -f .", "git filter-branch --all"),
        *("git push --delete origin x", "git push origin :x", "git push --mirror", "git push -d origin x"),
        *("git symbolic-ref -d x", "git notes remove", "git lfs prune"),
        *("rsync -a --delete a/ b/", "rsync --delete-after a b", "rsync --remove-source-files a b", "zip -m a x"),
        *("docker rm -f x", "docker -H x rm y", "docker system prune -af", "docker volume rm x", "docker rmi x"),
        *("docker compose down -v", "docker compose -f x down --volumes", "docker-compose rm", "podman rm x"),
        *("kubectl -n x delete pod y", "helm uninstall x", "terraform -chdir=x destroy"),
        *("sh <<EOF\nrm -rf x\nEOF", "bash <<'EOF'\nrm -rf x\nEOF", "bash <<< 'rm -rf x'", "cat <<EOF | sh\nrm x\nEOF"),
        *("echo 'rm -rf x' | sh", "printf 'rm x' | sudo bash -s", "echo 'rm x' | tee f | zsh", "sh -e <<< 'ls; rm x'"),
        *("env -S 'rm -rf x'", "env -vS 'rm x'", "env --split-string='rm x'", "alias ll='rm -rf x'; ll"),
        *("xargs -I{} rm {} < f", "ls | xargs -I{} rm -f {}", "su -c 'rm x'", "script -c 'rm x' f", "watch 'rm x'"),
        *("sh <<< \"bash <<< 'rm x'\"", "flock f -c 'rm x'"),
    ),
}
UNMARKED = {
    "network": (
        *("npm test", "npm run build", "npm ls", "yarn test", "pnpm run x", "pip list", "pip show x", "pip freeze"),
        *("pip3 list", "pip3.11 list"),
        *("cargo fmt", "go fmt ./...", "docker ps", "docker logs x", "git remote add x y", "git submodule status"),
        *("git status", "git commit -m x", "pnpm -r test", "pnpm -r --filter x run build", "npm --prefix x test"),
        *("python3 -m pytest", "python3 -m pip list", "python3 -m venv x", "python3 x.py -m pip", "rsync -a a/ b/"),
        *(
            "docker volume rm x",
            "docker compose logs",
            "docker compose -f x down",
            "docker container ls",
            "git lfs ls-files",
        ),
        *("poetry run pytest", "bundle exec rspec", "gh --version", "terraform fmt", "aws configure list"),
    ),
    "privilege": (
        *("chmod 644 f", "chmod 0644 f", "chmod 755 f", "chmod +x f", "chmod u+x f", "chmod a+x f", "chmod -x f"),
        *("chmod -R 755 d", "chmod go-w f", "chmod o-w f", "chmod u=rw,go=r f", "chmod a-w f", "chmod u+w f"),
    ),
    "overwrite": (
        *("git checkout -b x", "git checkout -b x main", "git switch -c x", "git switch main", "git apply --check x"),
        *("ls >> f", "ls &>> f", "ls | tee -a f", "cp -n a b", "mv -n a b", "ln -s a b", "git stash list"),
        *(
            "curl http://x",
            "curl -sSL -o /dev/null http://x",
            "curl -s -o - x",
            "curl -sd o=O http://x",
            "wget http://x",
        ),
        *("wget -qO- http://x", "git push", "git push -u origin x", "git branch x", "git tag v1", "git stash drop"),
        *("install -d x", "patch --dry-run -p1 < f", "gzip f", "gunzip f.gz", "scp f h:g", "rsync -an a/ b/"),
        *("docker cp f x:f", "cat <<E\nls > f\nE", "git diff --stat", "git log -p"),
    ),
    "delete": (
        *("git clean -n", "git clean -nd", "git clean --dry-run", "git rm --cached f", "git rm -n f", "git reset"),
        *("git reset HEAD f", "git reset --soft HEAD~1", "git reset --mixed HEAD~1"),
        *("git branch -d x", "git branch x", "git tag v1", "git push", "git push origin a:b", "git worktree list"),
        *(
            "git worktree add x",
            "git stash",
            "git stash pop",
            "git reflog",
            "git update-ref refs/x HEAD",
            "git notes list",
        ),
        *("rsync -a a/ b/", "docker ps", "docker compose down", "docker stop x", "kubectl get pods", "helm list"),
        *(
            "cat <<EOF\nrm -rf x\nEOF",
            "echo 'rm -rf x'",
            "echo 'rm x' > f.sh",
            "grep -r 'rm -rf' . | xargs -I{} echo {}",
        ),
        *(
            "sudo grep 'rm x' f",
            "alias ll='ls -l'",
            "bash build.sh <<< 'rm x'",
            "echo ls | sh",
            "zip a x",
        ),
    ),
}


@pytest.mark.parametrize("mark", MARKED)
def test_dangerous_effects_of_a_command_are_marked(mark: str) -> None:
    assert [command for command in MARKED[mark] if mark not in classify(command).dangers] == []


@pytest.mark.parametrize("mark", UNMARKED)
def test_a_command_without_a_dangerous_effect_is_not_marked(mark: str) -> None:
    assert [command for command in UNMARKED[mark] if mark in classify(command).dangers] == []


def test_every_known_program_is_classified_with_any_few_words() -> None:
    words = [
        "",
        "-",
        "--",
        "-c",
        "-m",
        "-O",
        "-o",
        "--delete",
        "-f",
        "-d",
        "x",
        "rm",
        "'a b'",
        "''",
        "$x",
        "+",
        "+x",
        ":",
    ]
    programs = sorted({*_TABLE, *_MARKS, *_FETCHING, *PROGRAM_OPTIONS, *WRAPPERS} - {"."})
    randomness = Random(3)
    for program in programs:
        for count in (0, 1, 1, 2, 3, 3):
            assert classify(" ".join([program, *randomness.choices(words, k=count)])).lines


def test_a_line_with_very_many_texts_for_a_shell_is_not_believed() -> None:
    few, many = ("; ".join(["sh <<< ls"] * count) for count in (MAX_TEXTS, MAX_TEXTS + 1))
    assert classify(few).is_complete
    assert not classify(many).is_complete


@pytest.mark.parametrize("program", ["python3", "python3.11", "pypy3.10", "ruby3.2", "/usr/bin/python3"])
def test_no_rule_is_offered_for_an_interpreter_of_any_version(program: str) -> None:
    assert classify(f"{program} build.py").leading == ()
