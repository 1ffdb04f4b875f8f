"""Dangerous lines found by reading the classifier: each was called read-only, and was seen to do more."""

LINES = {
    "variables that a command is started with": r"""
export X=$(touch PWNED); ls
export X=`touch PWNED`
export X=1 > PWNED
export A=b C=$(touch PWNED)
X=1 touch PWNED
x=$(touch PWNED) ls
x=1 y=2 eval 'touch PWNED'
export BASH_ENV=./evil.sh; bash -c ls
x=1 BASH_ENV=./evil.sh bash -c ls
export x=1; touch PWNED
""",
    "what only reads, redirected": r"""
umask > PWNED
ulimit -a > PWNED
zcat nope.gz > PWNED || true
git help > PWNED
tar --version > PWNED
""",
    "brackets in patterns of sed": r"""
echo 'a/]b' | sed 's/[]/]/;p;s|/;e touch PWNED #||'
echo 'a/]b' | sed 's/[^]/]/;p;s|/;e touch PWNED #||'
echo 'a/]b' | sed 's/[[:alpha:]/]/;p;s|/;e touch PWNED #||'
echo 'a/]b' | sed 's/[[.a.]/]/;p;s|/;e touch PWNED #||'
echo 'a/]b' | sed 's/[[=a=]/]/;p;s|/;e touch PWNED #||'
echo 'a/]b' | sed 's/[[.].]/]/;p;s|/;e touch PWNED #||'
echo 'a/]b' | sed 's/[^[:digit:]/]/;p;s|/;e touch PWNED #||'
echo 'a/]b' | sed -n 's/[[:alpha:]/]/;p;s|/;w PWNED'
echo 'a/]b' | sed -E 's/x?[]/]/;p;s|/;e touch PWNED #||'
""",
    "lists in quotes": r"""
[[ -oPWNED =~ ()(-oPWNED) ]]; sort "f.txt${BASH_REMATCH[@]:1}"
[[ -oPWNED =~ ()(-oPWNED) ]]; sort f.txt"${BASH_REMATCH[@]:1}"
[[ -oPWNED =~ ()(-oPWNED) ]]; sort 'f.txt'"${BASH_REMATCH[@]:1}"
[[ -oPWNED =~ ()(-oPWNED) ]]; sort ./f.txt''"${BASH_REMATCH[@]:1}"''
[[ -oPWNED =~ ()(-oPWNED) ]]; sort ~/"${BASH_REMATCH[@]:1}"
[[ -oPWNED =~ ()(-oPWNED) ]]; sort f.txt{,"${BASH_REMATCH[@]:1}"}
[[ -oPWNED =~ ()(-oPWNED) ]]; sort "f.txt$x${BASH_REMATCH[@]:1}"
[[ -oPWNED =~ ()(-oPWNED) ]]; shuf "f.txt${BASH_REMATCH[@]:1}"
[[ PWNED =~ ()(PWNED) ]]; uniq "f.txt${BASH_REMATCH[@]:1}"
[[ PWNED =~ ()(PWNED) ]]; xxd "f.txt${BASH_REMATCH[@]:1}"
[[ 'x -oPWNED' =~ (x)\ (-oPWNED) ]]; sort f.txt -t "${BASH_REMATCH[@]:1}"
[[ --output=PWNED =~ ()(--output=PWNED) ]]; git log "HEAD${BASH_REMATCH[@]:1}"
[[ '-exec touch PWNED ;' =~ ()(-exec)\ (touch)\ (PWNED)\ (.) ]]; find "sub${BASH_REMATCH[@]:1}"
[[ '. -exec touch PWNED ;' =~ (.)\ (-exec)\ (touch)\ (PWNED)\ (.) ]]; find . -name "${BASH_REMATCH[@]:1}"
[[ 'touch PWNED' =~ ()(touch)\ (PWNED) ]]; env "A=b${BASH_REMATCH[@]:1}"
[[ 'touch PWNED' =~ ()(touch)\ (PWNED) ]]; timeout "5${BASH_REMATCH[@]:1}"
[[ 'touch PWNED' =~ ()(touch)\ (PWNED) ]]; nice -n "5${BASH_REMATCH[@]:1}"
bash -c '[[ -oPWNED =~ ()(-oPWNED) ]]; sort "f.txt${BASH_REMATCH[@]:1}"'
""",
    "folders that the line has entered": r"""
pushd -n -- -oPWNED; sort f.txt ~1
pushd -n -- -oPWNED; sort f.txt ~+1
pushd -n -- -oPWNED; sort f.txt ~-0
pushd -n -- -oPWNED; sort f.txt ~1{,}
pushd -n -- -oPWNED; sort f.txt ~{1,1}
pushd -n -- -oPWNED; sort f.txt ~{1..1}
pushd -n -- --output=PWNED; sort ~1 f.txt
pushd -n -- --output=PWNED; git diff --no-index f.txt ~1 g.txt
pushd -n -- -delete; find . -name victim ~1
""",
    "operators of the shell in single brackets": r"""
[ -f f.txt > PWNED ]
[ -f f.txt >PWNED ]
[ f.txt > PWNED ]
[ a >> PWNED ]
[ ! -f f.txt > PWNED ]
[ -f f.txt -a -d sub > PWNED ]
[ a = a > PWNED ]
[ f.txt -ef f.txt >PWNED ]
if [ -f f.txt > PWNED ]; then ls; fi
bash -c '[ -f f.txt > PWNED ]'
[ "" || ./evil.sh ]
[ -f f.txt | ./evil.sh ]
[ a & ./evil.sh ]
[ -f nope || ./evil.sh ]
! [ -f f.txt > PWNED ]
test -f f.txt > PWNED
test -f f.txt >> PWNED -a -d sub
test a = a || ./evil.sh && ./evil.sh
""",
    "words behind a redirection": r"""
env 2>&1 touch PWNED
command 2>/dev/null touch PWNED
timeout 5 2>&1 touch PWNED
find . -name victim 2>/dev/null -delete
sort < f.txt -o PWNED
tee 2>/dev/null PWNED < f.txt
sed -n p < f.txt -i g.txt
git branch 2>&1 PWNED
git log 2>/dev/null --output=PWNED
""",
    "a variable that holds a descriptor": r"""
echo a {PATH}>/dev/null; cat f.txt
{ ls; } {PATH}</dev/null; cat f.txt
true {PATH}<&0; cat f.txt
true {PATH}<<<a; cat f.txt
""",
    "options that look like descriptors": r"""
sort f.txt -oPWNED2>/dev/null
sort f.txt -oPWNED1</dev/null
git log --output=PWNED2>/dev/null
shuf f.txt -oPWNED2>/dev/null
sort f.txt -oPWNED1>&2
sort f.txt -oPWNED2>/dev/null | cat
""",
    "process substitutions in expansions and patterns": r"""
echo ${x:-<(touch PWNED)}
echo PWNED ${x:-| a<(touch PWNED)gs -i touch PWNED{}
echo ${x-a>(touch PWNED)}
x=a; echo ${x+<(touch PWNED)}
x=a; echo ${x#<(touch PWNED)}
x=a; echo ${x/a/<(touch PWNED)}
""",
    "patterns that are expanded": r"""
[[ x =~ ^(`touch PWNED`)$ ]]
x='$(touch PWNED)'; [[ x =~ ^(${x@P})$ ]]
x='a[$(touch PWNED)0]'; [[ x =~ ($[x]) ]]
""",
    "the end of an -exec, again": r"""
find . -name victim -exec echo ";$x" -delete -exec echo \;
find . -name victim -exec echo {} "+$x" -delete -exec echo \;
x=';'; find . -name victim -exec echo + "$x" -delete -exec echo \;
""",
    "a word that becomes several": r"""
x='.txt -oPWNED'; sort f$x
x='f.txt -oPWNED'; sort ./$x
for x in 'f.txt -oPWNED'; do sort ./$x; done
read -r x <<< '.txt -oPWNED'; sort f$x
sort f$(echo .txt -oPWNED)
x='txt -o PWNED'; shuf f.$x
x='txt -i'; sed -n p f.$x
x='victim -delete'; find ./$x
x='/victim -delete'; find .$x
x='f.txt --pre=./evil.sh'; rg hello ./$x
x='AD --output=PWNED'; git log HE$x
x='AD --output=PWNED'; git diff HE$x
x='y --checkpoint=1 --checkpoint-action=exec=./evil.sh'; tar tf a.tar x$x
""",
    "a number that may be nothing": r"""
sort $!-oPWNED f.txt
git log $!--output=PWNED
awk -F $! -- -f evil.awk
find . -not -name $! -name -delete
echo x | xargs -I $! cat touch PWNED
""",
    "the end of an -exec": r"""
x=';'; find victim -exec cat {} $x -delete -exec cat {} \;
x=';'; find victim -exec cat {} "$x" -delete -exec cat {} \;
x=+; find victim -exec cat {} "$x" -delete -exec cat {} \;
""",
    "the end of the options": r"""
rg -e -- --pre=./evil.sh f.txt
git diff --no-index -S -- --output=PWNED f.txt g.txt
git range-diff -S -- --output=PWNED HEAD HEAD HEAD
git shortlog -S -- --output=PWNED HEAD
""",
    "what xargs puts in": r"""
echo x | xargs --replace touch cat PWNED
echo x | xargs --max-lines touch cat PWNED
echo touch | xargs -Icat env cat PWNED
echo touch | xargs -Icat timeout 5 cat PWNED
echo touch | xargs -Icat nice cat PWNED
echo --pre=./evil.sh | xargs -IX rg X -- hello f.txt
echo --output=PWNED | xargs -I X git log X -- f.txt
echo -oPWNED | xargs -IX sort X -- f.txt
""",
    "the shell itself": r"""
x11='a[$(touch PWNED)0]'; echo $[x11]
x11='a[$(touch PWNED)0]'; echo "$[x11]"
x111='a[$(touch PWNED)0]'; cat <<< $[x111]
x111='a[$(touch PWNED)0]'; [[ $[x111] ]]
x111='a[$(touch PWNED)0]'; y=$[x111]; ls
u=-v; v='a[$(touch PWNED)0]'; test x -a "$u" "$v" = y
u=-v; v='a[$(touch PWNED)0]'; command test x -a "$u" "$v" = y
printf %n PATH; cat f.txt
printf '%n' PATH; cat f.txt
printf -- '%n' PATH; cat f.txt
printf "%5n" PATH; cat f.txt
printf 'aaaaaaaaaa%n' PATH; cat f.txt
for p in PATH; do printf '%n' $p; done; cat f.txt
echo {Z..a}\`touch$IFS\PWNED\\'`'
echo {A..z}\`touch$IFS\PWNED\\'`'
""",
    "no version": r"""
cat words | bash -v
echo 'touch PWNED' | bash -v
echo 'open("PWNED","w")' | python3 -v
printf ':!touch PWNED\n:q!\n' | vim -v
""",
}

# The grammar ends these texts before the shell does, and takes what follows for a quoted word.
MANY = {
    "a variable that holds a descriptor": ("true {PATH}<<E\na\nE\ncat f.txt",),
    "a line that goes on in quotes": ('printf "% \\\nn" PATH; cat f.txt',),
    "words on the next line": ("TZ=C cat f.txt | ls | echo a b\n! touch PWNED ']' ~/}||echo $((1+2))",),
    "the beginning of a text": (
        "cat <<EOF |\necho '\nEOF\ntouch PWNED\n: '\nEOF",
        "cat <<EOF &&\necho '\nEOF\ntouch PWNED\n: '\nEOF",
        "cat <<'EOF' |\necho '\nEOF\ntouch PWNED\n: '\nEOF",
        "cat <<-EOF |\necho '\n\tEOF\ntouch PWNED\n: '\n\tEOF",
        "true <<EOF &&\n[[ '\nEOF\ntouch PWNED\n: ' ]]\nEOF",
    ),
    "the end of a text": (
        "cat <<EOF\nx \\\nEOF\necho '\nEOF\ntouch PWNED\n: '",
        "cat <<-'EOF'\n  EOF\necho '\nEOF\ntouch PWNED\n: '",
        "cat <<-EOF\n EOF\necho '\nEOF\ntouch PWNED\n: '",
        "cat <<'EOF'\nEOF \necho '\nEOF\ntouch PWNED\n: '",
        "cat <<'EOF'\n EOF\necho '\nEOF\ntouch PWNED\n: '",
    ),
}

# Lines observed to have effects where the folder had what they need (a target or a file of that name, a stash,
# a program that is not installed) or somebody listened. The last group was not observed: the effects of its programs
# are known from their sources and manuals, and `date` was only seen trying to set the clock.
NOT_RUN = {
    "character sets that are not installed": r"""
LC_ALL=zh_CN.GBK bash -c 'echo "中\" ; touch PWNED; # "'
LC_CTYPE=zh_TW.BIG5 bash -c 'echo "功\" ; touch PWNED; # "'
LANG=ja_JP.SJIS bash -c 'echo "表\" ; touch PWNED; # "'
LANG=zh_CN bash -c 'echo "中\" ; touch PWNED; # "'
env LC_ALL=zh_CN.GB18030 bash -c 'echo "中\" ; touch PWNED; # "'
env LANG=ko_KR.JOHAB bash -c 'echo "中\" ; touch PWNED; # "'
LC_ALL=zh_CN.GBK ls
""",
    "times of a file": r"""
file -p f.txt
file -bp f.txt
file --preserve-date f.txt
""",
    "names of programs that look like harmless ones": r"""
!ls
!cat f.txt
{ls; }
{time -p wc -l f.txt; }
![ -f f.txt ]
[['a' = b ]]
[["$x" = b ]]
cat<(ls)
diff <(ls)<(ls sub)
time - ls
time -p - ls
time \-p # c
time '-p' ls
nice - ls
""",
    "no version": r"""
make version
bash version
python3 version
node version
perl version
gcc version
cmake version
tmux -v
""",
    "in another folder": r"""
git stash list -- --output=PWNED
git -C $! diff tag PWNED
env -i bash -c tree
env - bash -c tree
sort --files0-from $! -- -oPWNED
file -F $! -- -C -m m
""",
    "calling somebody": r"""
x=v; cat < /de$x/tcp/127.0.0.1/9
x=/tcp/127.0.0.1/9; cat < /dev$x
x=v; read y < /de$x/tcp/127.0.0.1/9
x=v; while read -r y; do :; done < /de$x/tcp/127.0.0.1/9
cd /dev && cat < ~+/tcp/127.0.0.1/9
cat < /de{v..v}/tcp/127.0.0.1/9
""",
    "not seen": r"""
tree -Lo 1 PWNED
tree -Po x PWNED
gawk 1 /inet/tcp/0/127.0.0.1/9
gawk 'BEGIN{ARGV[ARGC++]="/inet/tcp/0/127.0.0.1/9"}{print}'
gawk 'BEGIN{ARGV[1]="/in" "et/tcp/0/127.0.0.1/9"; ARGC=2}{print}'
gawk 'BEGIN{split("x /in""et/tcp/0/127.0.0.1/9", ARGV, " ")}{print}' f.txt
gawk 'BEGIN{SYMTAB["AR" "GC"]=9}{print}' f.txt
x=ne; gawk 1 /i${x}t/tcp/0/127.0.0.1/9
gawk 1 /i{ne,}t/tcp/0/127.0.0.1/9
x=inet/tcp/0/127.0.0.1; gawk 1 /$x/9
lspci -qq -O net.cache_name=PWNED
lspci -q
lspci -Q
lspci -vQ
lspci -Onet.cache_name=PWNED -q
lspci -A dump -O dump.name=f.txt
lspci -M
lspci -H1
npm_config_logs_dir=. npm --version
npm_config_globalconfig=f.txt npm --version
export npm_config_logs_dir=.; npm -v
env npm_config_script_shell=evil.sh npm --version
export yarn_config=x pnpm_config_x=y; ls
x='%s -s 2020-01-01'; date +$x
""",
}
