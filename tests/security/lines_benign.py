"""Harmless lines as agents write them when they look around: they must be found read-only."""

LINES = {
    "settings and versions": r"""
X=1 ls
x=1 y=2 ls -la
env X=1 ls
export LC_ALL=C; ls | sort
export LANG=C.UTF-8 && cat f.txt
export x=1; echo "$x"
umask -S
ulimit -n
lspci -nnk
lspci -tv
lspci -vmm -s 00:1f.3
tput lines 2>/dev/null || true
tar --version
tar --version | head -1
sort --version
find --version
sed --version
python3 --version; node --version 2>/dev/null || true
zcat nope.gz || true
""",
    "listing": r"""
ls
ls -la
ls -R sub
ls -lah sub/ f.txt
ls -1t | head -5
ls *.txt
ls -d */
ls sub/../sub
ls -la ~
ls -d ~/*
sort ~/nope f.txt || true
ls "$HOME"
ls $PWD
ls -l --time-style=full-iso f.txt
ls -la 2>/dev/null
ls nope 2>&1
ls nope 2>/dev/null || true
ls -la | grep txt
ls -1 | wc -l
ls -la sub && ls -la empty
pwd
pwd -P
tail -n +2 f.txt
cd sub && ls
cd sub && pwd && ls -la
(cd sub && ls)
cd sub; cat inner.txt
dir
stat f.txt
stat -c '%s %n' f.txt g.txt
stat --format=%a evil.sh
file f.txt
file -b f.txt evil.sh
file --mime-type f.txt
du -sh .
du -sh sub | cut -f1
du -a --max-depth=1 | sort -rn | head -20
df -h
df -h . | tail -1
realpath f.txt
readlink -f link
readlink link
basename /a/b.txt .txt
dirname /a/b/c
tree 2>/dev/null || ls -R
test -f f.txt
test -d sub && echo yes
[ -f f.txt ]
[ -d sub ] && echo "is a folder" || echo "is none"
[ "$HOME" = /root ] || echo other
[[ -f f.txt ]]
[[ -f f.txt && -d sub ]] && echo both
[[ f.txt == *.txt ]] && echo match
[[ "abc" =~ ^a.c$ ]] && echo match
[ ! -e nope ] && echo absent
""",
    "reading": r"""
cat f.txt
cat f.txt g.txt
cat -n f.txt
cat -A f.txt | head
cat < f.txt
cat package.json | jq .
cat sub/*.txt
cat "f.txt" 'g.txt'
head f.txt
head -n 20 f.txt
head -1 f.txt g.txt
head -c 100 f.txt
tail f.txt
tail -n 5 f.txt
tail -20 f.txt
tail -c 10 f.txt
head -5 f.txt | tail -1
nl f.txt
nl -ba f.txt | sed -n '1,5p'
tac f.txt
rev f.txt
wc f.txt
wc -l f.txt
wc -l *.txt
wc -c < f.txt
cat f.txt | wc -w
sort f.txt
sort -u f.txt
sort -rn -k2 f.txt
sort -t: -k1,1 g.txt
sort f.txt | uniq
sort f.txt | uniq -c | sort -rn | head -10
uniq -c f.txt
uniq f.txt
cut -d: -f1 g.txt
cut -c1-10 f.txt
cut -d' ' -f2- f.txt
tr a-z A-Z < f.txt
cat f.txt | tr -d '\r'
tr -s ' ' < f.txt | cut -d' ' -f1
paste f.txt g.txt
paste -sd, f.txt
comm f.txt g.txt
comm -12 <(sort f.txt) <(sort g.txt)
join f.txt g.txt
diff f.txt g.txt
diff -u f.txt g.txt
diff -r sub empty
diff <(sort f.txt) <(sort g.txt)
diff -q f.txt g.txt || echo differs
cmp f.txt g.txt
cmp -s f.txt g.txt; echo $?
fold -w 40 f.txt
fmt f.txt
column -t f.txt
expand f.txt
od -c f.txt | head
od -A x -t x1z f.txt
hexdump -C f.txt
xxd f.txt
xxd -l 16 f.txt
xxd f.txt | head -3
strings f.txt
base64 f.txt
base64 -w0 f.txt
echo aGVsbG8= | base64 -d
md5sum f.txt
sha256sum f.txt g.txt
sha1sum < f.txt
cksum f.txt
b2sum f.txt
jq . data.json
jq -r '.name' data.json
jq '.list | length' data.json
jq '.list[] | select(. > 1)' data.json
jq -r '.scripts | keys[]' package.json
jq -c '{name, n: (.list|length)}' data.json
cat data.json | jq '.list[0]'
zcat g.gz
tar -tf a.tar
tar tzf a.tgz
tar -tvf a.tar | head
seq 1 5
seq -s, 3
shuf -n 1 f.txt
expr 1 + 2
factor 12
""",
    "searching": r"""
grep hello f.txt
grep -n hello f.txt
grep -rn hello .
grep -rn 'a;b' .
grep -E 'x|y' g.txt
grep -i HELLO f.txt
grep -c hello f.txt g.txt
grep -v hello f.txt
grep -w hello f.txt
grep -l hello *.txt
grep -rl hello sub
grep -A 2 -B 2 hello f.txt
grep -C3 hello f.txt
grep -o 'h[a-z]*' f.txt
grep -q hello f.txt && echo found
grep -F 'a.b' f.txt
grep -P '\bhello\b' f.txt
grep -rn --include='*.txt' hello .
grep -rn "hello" --include="*.txt" --exclude-dir=.git . | head -20
grep -e hello -e second f.txt
grep -f words f.txt
grep -rnE "(hello|world)" sub f.txt 2>/dev/null
grep "a > b" f.txt
grep '$(touch x)' f.txt
grep '`' f.txt
grep -n "TODO\|FIXME" f.txt
grep -r "$HOME" f.txt
egrep 'x|y' g.txt
fgrep 'x|y' g.txt
rg hello
rg -n hello f.txt
rg -i 'hello|world' -g '*.txt'
rg --files | head
rg -l hello sub
rg -t py import
rg -A2 -B2 hello f.txt
rg --hidden --no-ignore -c hello
rg "fn \w+" -o
rg -e hello -e second f.txt | wc -l
rg -n "hello" --glob '!sub/**'
find . -name '*.txt'
find . -type f -maxdepth 2
find . -type d -name sub
find . -name "*.txt" -not -path "./.git/*"
find . -type f -name '*.txt' | head -20
find . -type f | wc -l
find . -size +1k -type f
find . -mtime -1
find . -newer f.txt
find . \( -name '*.txt' -o -name '*.json' \) -print
find . -path ./.git -prune -o -type f -print
find . -maxdepth 1 -type f -printf '%f %s\n'
find . -type f -print0 | xargs -0 grep -l hello
find . -name '*.txt' | xargs grep -n hello
find . -name '*.txt' | xargs wc -l
find . -name '*.txt' -exec grep -l hello {} \;
find . -name '*.txt' -exec grep -Hn hello {} +
find . -name '*.txt' -exec cat {} \;
find . -name '*.txt' -exec wc -l {} +
find . -name '*.txt' -exec head -1 {} \;
find . -empty
find sub -ls
find . -iname '*README*' 2>/dev/null
ls | xargs -n1 echo
which git
which -a python3
type ls
type -a cat
command -v git
command -v nope || echo missing
whereis ls
""",
    "git": r"""
git status
git status -s
git status --short --branch
git status --porcelain=v2
git log
git log -1
git log --oneline
git log --oneline -10
git log -p -1
git log --oneline --graph --all
git log --stat -3
git log --format='%h %an %s' -5
git log --pretty=format:"%H %ad" --date=short
git log -n 5 -- f.txt
git log --since='2 weeks ago' --author=x
git log main..side
git log --follow -p f.txt
git log -S hello --oneline
git log -G'h.*o'
git log -L1,1:f.txt
git log --grep=first
git --no-pager log -3
git --no-pager diff
git -C sub status
git -C . log --oneline
git diff
git diff HEAD
git diff --stat
git diff --cached
git diff --staged --name-only
git diff --name-status HEAD
git diff main side
git diff main...side -- f.txt
git diff -U0 f.txt
git diff --word-diff
git diff --no-index f.txt g.txt
git diff --color=never | head -50
git diff HEAD -- f.txt | wc -l
git show
git show HEAD
git show HEAD:f.txt
git show --stat HEAD
git show --name-only --format= HEAD
git show v0:g.txt | head
git blame f.txt
git blame -L 1,1 f.txt
git branch
git branch -a
git branch -v
git branch -vv
git branch -r
git branch --show-current
git branch --list 'ma*'
git branch --contains HEAD
git branch --merged
git branch -a --format='%(refname:short)'
git tag
git tag -l
git tag -l 'v*'
git tag --list --sort=-creatordate
git tag --contains HEAD
git tag -n
git remote
git remote -v
git remote get-url origin
git rev-parse HEAD
git rev-parse --short HEAD
git rev-parse --abbrev-ref HEAD
git rev-parse --show-toplevel
git rev-parse --is-inside-work-tree
git ls-files
git ls-files | head -20
git ls-files -m
git ls-files --others --exclude-standard
git ls-tree HEAD
git ls-tree -r --name-only HEAD
git cat-file -p HEAD
git cat-file -t HEAD
git describe --tags
git describe --always --dirty
git stash list
git reflog
git reflog -5
git shortlog -sn HEAD
git rev-list --count HEAD
git merge-base main side
git config --get user.name
git config --list
git config -l
git config user.name
git config --get-regexp 'user.*'
git grep hello
git grep -n hello -- '*.txt'
git grep -l hello
git for-each-ref --sort=-committerdate refs/heads
git show-ref
git check-ignore -v f.txt
git symbolic-ref HEAD
git symbolic-ref --short HEAD
git worktree list
git submodule status
git count-objects -v
git name-rev HEAD
git diff-tree --no-commit-id --name-only -r HEAD
git whatchanged -1
git cherry main side
git var GIT_AUTHOR_IDENT
git hash-object f.txt
git notes list
git --version
git help
git log --oneline | head -5 | cut -d' ' -f1
git status && git diff --stat
git log -1 --format=%cd; git status -s
git rev-parse HEAD 2>/dev/null || echo none
cd sub && git status
git diff f.txt 2>&1 | cat
GIT_PAGER=cat git log -2
PAGER=cat git diff
""",
    "text": r"""
sed -n '1,5p' f.txt
sed -n 1,2p f.txt
sed -n '/hello/p' f.txt
sed -n '$p' f.txt
sed 's/hello/bye/' f.txt
sed 's/hello/bye/g' f.txt
sed -e 's/a/b/' -e 's/c/d/' f.txt
sed -E 's/(h)(e)/\2\1/' f.txt
sed 's|/|_|g' f.txt
sed '1d' f.txt
sed '/^$/d' f.txt
sed '/^#/d;/^$/d' f.txt
sed -n '/hello/,/second/p' f.txt
sed -n '2{p;q}' f.txt
sed 's/^/  /' f.txt | head
sed '5q' f.txt
sed -n '/hello/=' f.txt
sed 'y/abc/xyz/' f.txt
sed -n 's/.*\(world\).*/\1/p' f.txt
cat f.txt | sed 's/[[:space:]]*$//'
sed -E 's/[^[:alnum:]_]+/ /g;s/[]]//' f.txt
sed -n '/[a-z]/p;s/[0-9]*$/x/p' f.txt
awk '{print $1}' f.txt
awk '{print $NF}' f.txt
awk -F: '{print $2}' g.txt
awk -F ':' '{print $1, $2}' g.txt
awk 'NR==1' f.txt
awk 'NR>=1 && NR<=2' f.txt
awk '/hello/' f.txt
awk '/hello/{print NR": "$0}' f.txt
awk '{s+=$1} END {print s}' f.txt
awk 'END{print NR}' f.txt
awk 'length > 3' f.txt
awk '$1 > 5' f.txt
awk 'length($0) > 80 {print FILENAME": "FNR}' f.txt
awk 'BEGIN{print 1+1}'
awk '{printf "%s\n", $1}' f.txt
awk -v n=2 'NR==n' f.txt
awk '!seen[$0]++' f.txt
awk '{c[$1]++} END {for (k in c) print k, c[k]}' f.txt
awk '{gsub(/o/, "0"); print}' f.txt
awk '{print ($1 > 2) ? "a" : "b"}' f.txt
ls -l | awk '{print $5, $9}'
ps aux | awk '{print $2}' | head
""",
    "looking at the machine": r"""
echo hello
echo "a > b"
echo 'a; b && c | d'
echo "$HOME"
echo $PATH
echo "${HOME}/x"
echo ${PATH//:/ }
echo "${x:-default}"
echo $((1 + 2))
echo $?
echo a{b,c}d
echo *
echo -e 'a\tb'
echo -n hi
echo hi >&2
echo hi 2>&1
echo hi > /dev/null
echo "it's fine"
echo 'say "hi"'
echo a\ b
echo \$HOME
echo '#1'
echo hi # a remark
printf '%s\n' hi
printf "%d items\n" 3
printf '%s\n' *.txt
date
date +%Y-%m-%d
date -u
date -d '2020-01-01' +%s
date -r f.txt
uname -a
uname -s
whoami
id
id -un
hostname
uptime
nproc
free -m
arch
tty
groups
env
env | sort
env | grep PATH
printenv
printenv HOME
ps
ps aux
ps -ef | grep bash
ps aux | head -5
ps -o pid,cmd
pgrep -l bash
who
locale
getconf PAGESIZE
getconf _NPROCESSORS_ONLN
lscpu
ulimit -a
umask
true
false
:
sleep 0
node --version
node -v
npm --version
python3 --version
python3 -V
python --version
bash --version
make --version
gcc --version
curl --version
git version
perl -v
jq --version
tput cols
uname -m && uname -r
""",
    "together": r"""
ls && pwd
ls; pwd
ls || true
ls | head -1 | wc -c
cat f.txt && cat g.txt || echo none
cat nope 2>/dev/null; echo done
test -f f.txt && cat f.txt
if [ -f f.txt ]; then cat f.txt; fi
if [ -f nope ]; then cat nope; else echo none; fi
if grep -q hello f.txt; then echo yes; fi
if git rev-parse HEAD >/dev/null 2>&1; then echo repo; fi
if command -v git >/dev/null 2>&1; then git --version; fi
for f in *.txt; do echo "$f"; done
for f in *.txt; do echo "== $f"; head -1 "$f"; done
for f in *.txt; do wc -l "$f"; done
for f in f.txt g.txt; do cat "$f"; done
for i in 1 2 3; do echo $i; done
for i in {1..3}; do echo "n $i"; done
for f in $(ls *.txt); do echo $f; done
for d in */; do echo "$d"; ls "$d" | head -3; done
for f in sub/*; do grep -n hello "$f"; done
while read -r line; do echo "$line"; done < f.txt
cat f.txt | while read -r l; do echo "- $l"; done
while IFS= read -r line; do echo "$line"; done < f.txt
ls *.txt | while read f; do head -1 "$f"; done
case x in x) echo yes;; *) echo no;; esac
case "$HOME" in /root) echo root;; *) echo other;; esac
{ echo a; echo b; }
(echo a; echo b)
{ ls; pwd; } | cat
! grep -q nope f.txt
! false
time ls
x=1; echo $x
name=f.txt; cat "$name"
n=$(wc -l < f.txt); echo "$n lines"
d=$(dirname /a/b); echo $d
echo "$(date)"
echo "Files: $(ls | wc -l)"
echo `pwd`
cat $(echo f.txt)
wc -l $(git ls-files)
cat "$(git rev-parse --show-toplevel)/f.txt"
ls -la $(which git)
cat f.txt | sort | uniq | head -n 3 | tail -n 1
cat f.txt |& head
timeout 5 ls
timeout 10 git log -1
timeout 1 tail -f f.txt
nice ls
env ls
env LC_ALL=C sort f.txt
LC_ALL=C sort f.txt
LANG=C ls
LC_ALL=C.UTF-8 sort f.txt
LC_ALL=en_US.utf8 ls "日本"*
env LANG=zh_CN.UTF-8 cat f.txt
TZ=UTC date
command ls
xargs echo < f.txt
xargs -n1 < f.txt
ls | xargs
git ls-files | xargs wc -l
git ls-files '*.txt' | xargs cat
git diff --name-only | xargs grep -n hello
yes | head -3
yes 2>/dev/null | head -1
true && echo ok
sleep 0.1 && echo ok
set -e; ls
set -euo pipefail; ls | head -1
set -o pipefail && ls | wc -l
export LC_ALL=C; sort f.txt
cat <<< hello
cat <<< "$HOME"
wc -w <<< "a b c"
read x < f.txt; echo "$x"
echo ---; cat f.txt; echo ---; cat g.txt
ls &>/dev/null && echo ok
ls >/dev/null 2>&1; echo $?
cat f.txt 2>/dev/null | head -5
cat nope 2>&1 | head
ls 1>&2
pushd sub > /dev/null; ls; popd > /dev/null
cd sub && grep -rn hello . | head
cd "$HOME" && ls
""",
}

MANY = {
    "together": (
        "ls\npwd",
        "# what is here\nls -la\n# and where\npwd",
        "cat <<EOF\nhello\nEOF",
        "cat <<'EOF'\n$(touch PWNED) `x` ; rm -rf x\nEOF",
        'cat <<"EOF"\n> PWNED\nEOF',
        "cat <<-EOF\n\thello\n\tEOF",
        "cat <<EOF\n$HOME and ${PWD}\nEOF",
        "cat <<EOF | grep hello\nhello\nEOF",
        'for f in *.txt; do\n  echo "$f"\n  head -1 "$f"\ndone',
        "if [ -f f.txt ]; then\n  cat f.txt\nelse\n  echo none\nfi",
        'while read -r l; do\n  echo "$l"\ndone < f.txt',
        "ls \\\n  -la \\\n  sub",
        "grep -rn hello . \\\n  | head -5 \\\n  | cut -d: -f1",
        "git log --oneline \\\n  --graph",
        "cat f.txt |\n  sort |\n  uniq -c",
        "ls &&\n  pwd",
        "echo 'a\nb'",
        'echo "a\nb"',
        "awk '\n  { print $1 }\n' f.txt",
        "sed -n '\n1p\n' f.txt",
        "echo caf\u00e9",
        "grep -n '\u00e9' f.txt",
    ),
}

# Harmless, but they run until somebody stops them.
NOT_RUN = r"""
tail -f f.txt
tail -F f.txt
tail --follow=name f.txt
yes
sleep 1000
"""
