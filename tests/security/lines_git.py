"""Dangerous lines that hide in git: its settings, its options, its hundred commands."""

LINES = {
    "git settings": r"""
git -c alias.x='!touch PWNED' x
git -c alias.x=!./evil.sh x
git -c core.fsmonitor='touch PWNED;false' status
git -c core.fsmonitor=./evil.sh status
git -c core.fsmonitor='touch PWNED;false' diff
git -c core.fsmonitor='touch PWNED;false' ls-files -m
git -c core.fsmonitor='touch PWNED;false' describe --dirty --always
git -c core.fsmonitor='touch PWNED;false' diff-index HEAD
git -c core.fsmonitor='touch PWNED;false' grep hello
git -c diff.external=./evil.sh diff
git -c diff.external='touch PWNED;true' diff
git -c diff.external=./evil.sh show --ext-diff
git -c diff.external=./evil.sh log -p --ext-diff
git -c diff.external=./evil.sh stash show -p --ext-diff; git -c diff.external=./evil.sh diff
git -c diff.x.textconv='touch PWNED;cat' -c core.attributesFile=attr diff
git -c diff.x.textconv='touch PWNED;cat' -c core.attributesFile=attr show
git -c diff.x.textconv='touch PWNED;cat' -c core.attributesFile=attr log -p
git -c diff.x.textconv='touch PWNED;cat' -c core.attributesFile=attr blame f.txt
git -c diff.x.textconv='touch PWNED;cat' -c core.attributesFile=attr grep --textconv hello
git -c diff.x.textconv='touch PWNED;cat' -c core.attributesFile=attr cat-file --textconv HEAD:f.txt
git -c diff.x.command=./evil.sh -c core.attributesFile=attr diff
git -c filter.x.smudge='touch PWNED;cat' -c core.attributesFile=<(echo '*.txt filter=x') cat-file --filters HEAD:f.txt
git -c core.sshCommand='touch PWNED;false' ls-remote ssh://localhost/x
git -c core.gitProxy=./evil.sh ls-remote git://localhost/x
git -c protocol.ext.allow=always ls-remote 'ext::touch PWNED'
git -c protocol.ext.allow=always ls-remote 'ext::sh -c touch% PWNED'
git -c protocol.ext.allow=always fetch 'ext::touch PWNED'
git -c protocol.ext.allow=always clone 'ext::touch PWNED' x
git -c core.editor='touch PWNED;true' config -e
git -c core.editor='touch PWNED;true' commit --amend
git -c gpg.program=./evil.sh tag -s -m x y
git -c gpg.program=./evil.sh commit -S -m x --allow-empty
git -c credential.helper='!touch PWNED;true' credential fill <<< 'url=http://x'
git -c difftool.x.cmd='touch PWNED' difftool -y -t x
git -c tar.x.command='touch PWNED;cat' archive --format=x HEAD
git -c trailer.x.command='touch PWNED' interpret-trailers < f.txt
git -c include.path=$PWD/gitconf diff
git -c sequence.editor='touch PWNED;true' rebase -i --root --autostash
git -c man.x.cmd='touch PWNED;true' -c man.viewer=x help status
git --config-env=alias.x=HIT x 2>/dev/null; HIT='!touch PWNED' git --config-env=alias.x=HIT x
HIT='touch PWNED;false' git --config-env=core.fsmonitor=HIT status
HIT='touch PWNED;false' git --config-env core.fsmonitor=HIT status
git --exec-path=gitexec x
git --exec-path=$PWD/gitexec x
git --exec-path=./gitexec -C . x; git --exec-path=$PWD/gitexec x
git --no-pager -c alias.x='!touch PWNED' x
git -C . -c alias.x='!touch PWNED' x
git --git-dir=.git -c alias.x='!touch PWNED' x
git --literal-pathspecs -c core.fsmonitor='touch PWNED;false' status
git -c a.b=c -c core.fsmonitor='touch PWNED;false' status
git "-c" core.fsmonitor='touch PWNED;false' status
git -c 'core.fsmonitor=touch PWNED;false' status
git -c CORE.FSMONITOR='touch PWNED;false' status
git -P -c core.fsmonitor='touch PWNED;false' status
""",
    "git config": r"""
git config diff.external ./evil.sh; git diff
git config core.fsmonitor 'touch PWNED;false' && git status
git config alias.x '!touch PWNED'; git x
git config core.PWNED y
git config --add a.b c
git config --replace-all core.fsmonitor 'touch PWNED;false'; git status
git config --unset user.name
git config --global core.fsmonitor 'touch PWNED;false'; git status
git config -f PWNED a.b c
git config --file PWNED a.b c
git config --file=PWNED a.b c
git config --local -f PWNED a.b c; git config -f PWNED a.b c
git config -e; git config -f PWNED a.b c
git config --rename-section user u
git config --remove-section user
git config --get-colorbool a; git config -f PWNED a.b c
git config -fPWNED a.b c
git config --bool -f PWNED a.b true
git config --type=bool -f PWNED a.b true
""",
    "git options": r"""
git diff --output=PWNED
git diff --output PWNED
git diff HEAD --output=PWNED
git diff --stat --output=PWNED
git diff --no-index f.txt g.txt --output=PWNED
git diff --no-index --output PWNED f.txt g.txt
git diff --cached --output=PWNED
git diff "--output=PWNED"
git diff --out""put=PWNED
git diff -p --output=./PWNED f.txt
git --no-pager diff --output=PWNED
git -C sub diff --output=PWNED
git -C sub diff --output=../PWNED
git log --output=PWNED
git log -1 --output=PWNED
git log --oneline --output=PWNED
git log -p --output PWNED
git show --output=PWNED
git show HEAD --output=PWNED
git show --stat --output PWNED HEAD
git reflog --output=PWNED
git reflog show --output=PWNED
git whatchanged --output=PWNED
git shortlog --output=PWNED HEAD
git diff-tree --output=PWNED HEAD
git diff-tree -p --root --output=PWNED HEAD
git diff-index --output=PWNED HEAD
git diff-index -p --output=PWNED HEAD
git diff-files --output=PWNED
git diff-files -p --output=PWNED
git range-diff --output=PWNED HEAD HEAD HEAD
git format-patch --output=PWNED -1
git format-patch -1 -o PWNED
git format-patch -1 --output-directory=PWNED
git format-patch -1
git format-patch --stdout -1 > PWNED
git grep --open-files-in-pager='touch PWNED;true' hello
git grep -O'touch PWNED;true' hello
git grep -O./evil.sh hello
git grep --open-files='touch PWNED;true' hello
git grep --open='touch PWNED;true' hello
git grep -lO./evil.sh hello
git grep -nO./evil.sh hello
git grep -iO./evil.sh -e hello
git ls-remote --upload-pack='touch PWNED;false' .
git ls-remote --upload-pack 'touch PWNED;false' .
git ls-remote --upload='touch PWNED;false' .
git ls-remote --exec='touch PWNED;false' .
git ls-remote -q --exec 'touch PWNED;false' .
git ls-remote --heads --upload-pack=./evil.sh . x
git fetch --upload-pack='touch PWNED;false' .
git fetch . --upload-pack 'touch PWNED;false'
git fetch-pack --exec='touch PWNED;false' . HEAD
git fetch-pack --upload-pack='touch PWNED;false' . HEAD
git pull --upload-pack='touch PWNED;false' .
git clone -u 'touch PWNED;false' . x
git clone --upload-pack='touch PWNED;false' . x
git clone . PWNED
git clone -q . PWNED
git clone --bare . PWNED
git clone --template=x -c core.fsmonitor=./evil.sh . PWNED
git push --receive-pack='touch PWNED;false' . HEAD:x
git push --exec='touch PWNED;false' . HEAD:x
git send-pack --exec='touch PWNED;false' . HEAD:x
git archive -o PWNED HEAD
git archive -oPWNED HEAD
git archive --output=PWNED HEAD
git archive --output PWNED HEAD
git archive HEAD -o PWNED
git archive --format=tar HEAD > PWNED
git archive --remote=. --exec='touch PWNED;false' HEAD
git archive --exec='touch PWNED;false' --remote . HEAD
git bundle create PWNED HEAD
git bundle create PWNED --all
git fast-export --export-marks=PWNED HEAD
git fast-export HEAD --export-marks=PWNED
git fast-import --export-marks=PWNED < /dev/null
git interpret-trailers --in-place --trailer x=y f.txt
git difftool -y -x 'touch PWNED'
git difftool -y --extcmd='touch PWNED'
git difftool -y --extcmd 'touch PWNED' HEAD
git difftool --no-prompt -x./evil.sh
git rebase -x 'touch PWNED' --root --autostash
git rebase --exec 'touch PWNED' --root --autostash
git bisect start HEAD HEAD; git bisect run touch PWNED
git rev-list --all | xargs git tag PWNED
git blame f.txt --contents <(touch PWNED)
git log -- $(touch PWNED)
git log --format="$(touch PWNED)"
git show :$(touch PWNED)f.txt
git log -L1,1:f.txt --output=PWNED
git log --all --graph --oneline --output=PWNED --
git diff --output=PWNED -- f.txt
git show --format= --name-only --output=PWNED
""",
    "git writes": r"""
git init PWNED
git init -q PWNED
git init --bare PWNED
git init --template=hooks PWNED
git branch PWNED
git branch -f PWNED
git branch --force PWNED HEAD
git branch PWNED HEAD
git branch -m PWNED
git branch -M PWNED
git branch -c PWNED
git branch -C main PWNED
git branch --copy PWNED
git branch --move main PWNED
git branch -t PWNED side
git branch --track PWNED side
git branch --no-track PWNED
git branch -q PWNED
git branch -v PWNED; git branch PWNED
git branch -- PWNED
git branch -d side
git branch -D side
git branch --delete side
git branch -u side
git branch --set-upstream-to=side
EDITOR=./evil.sh git branch --edit-description
git branch --create-reflog PWNED
git branch -l; git branch PWNED
git branch -fq PWNED
git branch --show-current; git branch PWNED
git tag PWNED
git tag PWNED HEAD
git tag -f PWNED
git tag -a PWNED -m x
git tag -am x PWNED
git tag -m x PWNED
git tag -F f.txt PWNED
git tag --force PWNED
git tag --annotate -m x PWNED
git tag -- PWNED
git tag --create-reflog PWNED
git tag --no-sign PWNED
git tag -d v0
git tag --delete v0
git remote add PWNED .
git remote -v add PWNED .
git remote add -f PWNED .
git remote rename origin PWNED
git remote remove origin
git remote rm origin
git remote set-url origin x
git remote update
git remote set-branches origin x
git stash
git stash push
git stash save PWNED
git stash -u
git stash create
git stash store HEAD
git stash -- f.txt
git stash; git stash branch PWNED
git notes add -m x
git notes --ref=PWNED add -m x
git notes append -m PWNED
git worktree add PWNED
git worktree add -b PWNED x
git worktree add --detach PWNED
git update-ref refs/heads/PWNED HEAD
git update-ref -d refs/heads/side
echo "create refs/heads/PWNED HEAD" | git update-ref --stdin
git symbolic-ref refs/heads/PWNED refs/heads/main
git symbolic-ref HEAD refs/heads/x
git symbolic-ref -d refs/remotes/x; git symbolic-ref PWNED refs/heads/x
git hash-object -w f.txt
git hash-object -tblob -w --stdin < f.txt
git update-index --chmod=+x f.txt
git read-tree HEAD
git read-tree --index-output=PWNED HEAD
git commit-tree -m x HEAD^{tree}
git mktree < /dev/null
git merge-tree --write-tree HEAD side
git merge-file f.txt g.txt g.txt
git unpack-file HEAD:f.txt
git checkout -b PWNED
git checkout -q -b PWNED
git checkout -B PWNED
git checkout --orphan PWNED
git checkout f.txt
git checkout -- f.txt
git checkout side -- f.txt
git checkout-index -a --prefix=PWNED/
git checkout-index --prefix=PWNED f.txt
git switch -c PWNED
git switch --create PWNED
git restore f.txt
git restore --staged f.txt
git reset --hard
git reset
git clean -fd
git clean -fdx
git clean -f victim
git clean -d --force victim
git rm -f f.txt
git rm --cached f.txt
git mv f.txt PWNED
git add victim
git add -A
git add -n .; git add f.txt
git commit -am x
git commit --allow-empty -m PWNED
git merge side
git cherry-pick HEAD
git revert HEAD
git apply evil.patch
git apply -p0 evil.patch
git apply --unsafe-paths -p0 evil.patch
git apply --stat --apply -p0 evil.patch
git am < evil.patch
git gc
git repack -ad
git pack-refs --all
git pack-objects PWNED <<< HEAD; git rev-parse HEAD | git pack-objects PWNED
git reflog expire --all --expire=now
git reflog delete HEAD@{0}
git sparse-checkout set sub
git maintenance run
git bugreport -o PWNED
git bugreport --output-directory=PWNED -s x
git diagnose -o PWNED
git submodule add ./hostile PWNED
git fetch
git fetch . HEAD:refs/heads/PWNED
git fetch -q . main:PWNED
git fetch --all
git fetch --dry-run
git pull
git pull . main
git push . HEAD:refs/heads/PWNED
git push -n; git push . HEAD:PWNED
git push --force origin main
git credential-store --file=PWNED store <<< $'protocol=http\nhost=x\nusername=u\npassword=p'
git mailinfo PWNED x < f.txt
git instaweb --stop
git index-pack --stdin < /dev/null
git bisect start
git bisect log; git bisect start
git stage f.txt
git status && git commit -qam PWNED && git tag PWNED
git diff | git apply -R
git show HEAD:evil.sh | sh
git show HEAD:g.txt > PWNED
git cat-file -p HEAD:evil.sh | bash
git cat-file blob HEAD:evil.sh | sh
git config --get user.name | xargs -I{} touch PWNED
git ls-files | xargs rm -f
git ls-files -z | xargs -0 touch PWNED
git grep -l hello | xargs sed -i 's/hello/x/'
git rev-parse --show-toplevel | xargs -I{} touch {}/PWNED
""",
    "git in a folder": r"""
git -C hostile x
cd hostile && git x
git --git-dir=hostile/.git x
(cd hostile; git x)
pushd hostile; git x
git -C . -C hostile x
git --git-dir hostile/.git --work-tree hostile x
""",
}

# Lines without a visible effect in the prepared folder, or that need a network: in another repository they do more.
NOT_RUN = {
    "git": r"""
git -c core.pager='touch PWNED;cat' -p log
git -c pager.log='touch PWNED;cat' -p log
git -c core.pager='touch PWNED;cat' --paginate status
git -c core.hooksPath=hooks status
git -c uploadpack.packObjectsHook=./evil.sh ls-remote .
git -c core.alternateRefsCommand='touch PWNED' ls-remote .
git config --edit
git config -e
git config edit
git config set a.b c
git config unset a.b
git config rename-section a b
git config --global --edit
git stash drop
git stash clear
git stash pop
git stash apply
git stash show --output=PWNED
git filter-branch -f --tree-filter 'touch PWNED' HEAD
git for-each-repo --config=x.y status
git for-each-repo --config=x.y -c alias.x=!./evil.sh x
git help -w status
git branch --unset-upstream
git branch --edit-description
git remote set-head origin main
git remote set-head origin -a
git remote prune origin
git remote show origin
git notes remove
git notes prune
git notes edit
git notes merge x
git worktree prune
git worktree remove x
git worktree lock x
git worktree move x y
git worktree repair
git update-index --refresh
git update-index --again
git write-tree
git gc --auto
git prune
git prune-packed
git fsck --lost-found
git replace x HEAD
git replace --edit HEAD
git rerere clear
git rerere
git rerere forget x
git commit-graph write
git multi-pack-index write
git multi-pack-index repack
git submodule init
git submodule update --init
git submodule deinit --all
git submodule sync
git submodule foreach 'touch PWNED'
git submodule set-url x y
git submodule absorbgitdirs
git push
git push origin main
git push --delete origin x
git credential approve
git credential reject
git credential fill
git credential-cache exit
git credential-cache--daemon sock
git mailsplit -oPWNED f.txt
git daemon
git daemon --export-all
git upload-pack .
git upload-archive .
git receive-pack .
git shell -c "git-upload-pack '.'"
git http-backend
git http-fetch x
git http-push x
git rebase side
git rebase --abort
git rebase --continue
git merge --abort
git merge --continue
git citool
git gui
git instaweb
git svn fetch
git p4 sync
git cvsimport
git cvsserver
git send-email x
git imap-send
git request-pull HEAD . main
git x
git evil
git lfs pull
git lfs install
git mergetool
git mergetool -y
git bisect run ./evil.sh
git bisect reset
git bisect good
git bisect skip
git bisect replay x
git remote-ext x 'touch PWNED'
git remote-http x y
git remote-fd x y
git fsmonitor--daemon start
git fsmonitor--daemon stop
git maintenance register
git maintenance start
git scalar register
git backfill
git refs migrate --ref-format=reftable
git subtree add --prefix=x y z
git ls-remote
git ls-remote origin
git ls-remote https://localhost/x
git ls-remote ext::x
git fetch https://localhost/x
git fetch --dry-run
git clone https://localhost/x
git archive --remote=https://localhost/x HEAD
git web--browse x
git difftool
git difftool -d
git difftool --tool=vimdiff
git submodule--helper foreach touch PWNED
git merge-index ./evil.sh -a
git merge-one-file x
git sh-setup
git unpack-objects
git mktag
git fast-import
git quiltimport
git mailinfo a b
git stash export
git reset --soft HEAD
git reset --mixed
git restore --staged .
git rm -r --cached .
git checkout side
git checkout -
git switch side
git switch -
git add -p
git add -i
git add --renormalize .
git commit
git commit --amend --no-edit
git revert --abort
git cherry-pick --abort
git am --abort
git clean -i
git sparse-checkout disable
git pack-redundant --all
""",
}

# Read-only lines that a hostile repository, or a hostile name of a file, turns into more. A kernel sandbox holds them;
# without one none of them is read-only, so none may be called strict.
HELD_BY_SANDBOX = r"""
git -C hostile status
git -C hostile diff
git -C hostile log -p
git -C hostile show
git -C hostile blame h.txt
git --git-dir=hostile/.git --work-tree=hostile status
cd hostile && git status
cd hostile; git diff
cd hostile && git diff --stat
cd hostile && git diff HEAD
cd hostile && git describe --always --dirty
cd hostile && git ls-files -m
cd hostile && git log -p
cd hostile && git log --oneline && git status --short
(cd hostile && git status)
pushd hostile >/dev/null && git status
cd opts && sort *
cd opts && sort -- * ; sort *
cd opts; sort * | head
cd opts && cat a.txt && sort *
for d in opts; do cd $d; sort *; done
cd opts && find * -name x; sort *
cd opts && git diff *
cd opts && git log *
cd opts; git diff --no-index * 2>/dev/null; sort *
cd opts && ls | xargs sort
cd opts && find . -type f -printf '%P\n' | xargs sort
cd opts; for f in *; do sort $f a.txt; done
cd opts; for f in *; do sort "$f" a.txt; done
cd opts; ls | while read f; do sort "$f"; done
cd opts && sort $(ls)
cd opts && sort "$(ls | head -1)" a.txt
cd opts; set -- *; sort "$@"
cd opts; x=$(ls | head -1); sort "$x" a.txt
cd opts; x=$(ls | head -1); git diff "$x"
cd opts; mapfile -t a < <(ls); sort "${a[@]}"
cd opts; a=(*); sort "${a[@]}"
cd opts; sort -u *t* ; sort *
"""
