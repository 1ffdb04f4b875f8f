"""Dangerous lines that hide behind the shell's own grammar: operators, expansions, quotes, redirections, built-ins."""

# Each entry is one line; lines with a line break or an odd character are in `MANY`.
LINES = {
    "chaining": r"""
touch PWNED
ls; touch PWNED
ls;touch PWNED
ls && touch PWNED
ls nope || touch PWNED
ls nope 2>/dev/null || touch PWNED
ls & touch PWNED
ls&touch PWNED
ls | touch PWNED
ls |& touch PWNED
ls & wait; touch PWNED
true && false || touch PWNED
ls; ls; ls; ls | cat | wc -l; touch PWNED
echo 'touch PWNED' | sh
echo 'touch PWNED' | bash
echo touch PWNED | bash -s
echo dG91Y2ggUFdORUQK | base64 -d | sh
printf 'touch PWNED' | bash -
printf '\164\157\165\143\150 PWNED' | sh
cat words | sh
cat words | xargs -I{} sh -c '{}'
sh < words
sh <<< 'touch PWNED'
bash words
rev <<< 'DENWP hcuot' | bash
tr a-z b-za <<< 'sntbg PWNED' | sh
""",
    "comments": r"""
echo a#; touch PWNED
echo ""#; touch PWNED
echo ''#; touch PWNED
echo $x#; touch PWNED
echo ${x}#; touch PWNED
echo $(true)#; touch PWNED
echo `true`#; touch PWNED
echo \#; touch PWNED
echo \ #; touch PWNED
echo {a,b}#; touch PWNED
echo a=#; touch PWNED
x=#; touch PWNED
x=1#; touch PWNED
echo $#; touch PWNED
echo ${#}; touch PWNED
echo ${#x}; touch PWNED
echo ${x#a}; touch PWNED
echo ${x##a #}; touch PWNED
echo "${x#"a"}" ; touch PWNED
echo $((16#a)); touch PWNED
echo "#"; touch PWNED
echo '#'; touch PWNED
echo "a"#'b'; touch PWNED
echo @#; touch PWNED
echo !#; touch PWNED
echo ~#; touch PWNED
echo *#; touch PWNED
echo -#; touch PWNED
echo $$#; touch PWNED
echo $'a'#; touch PWNED
echo $"a"#; touch PWNED
cat <<<a#; touch PWNED
cat <f.txt#; touch PWNED
[[ a#b == a#b ]]; touch PWNED
(( x=1#1 )); touch PWNED
""",
    "substitution": r"""
echo $(touch PWNED)
echo `touch PWNED`
echo "$(touch PWNED)"
echo "`touch PWNED`"
echo a$(touch PWNED)b
echo $(echo $(echo $(touch PWNED)))
echo `echo \`touch PWNED\``
echo "$(echo "$(touch PWNED)")"
echo "$(echo "`touch PWNED`")"
echo $"$(touch PWNED)"
ls $(touch PWNED)
ls -l -- "$(touch PWNED)"
cat <(touch PWNED)
cat < <(touch PWNED)
diff <(touch PWNED) f.txt
echo >(touch PWNED)
ls > >(touch PWNED)
ls 2> >(touch PWNED)
cat f.txt | tee >(touch PWNED)
cat <<< $(touch PWNED)
cat <<< "$(touch PWNED)"
cat <<< `touch PWNED`
x=$(touch PWNED)
x=$(touch PWNED) ls
x="a $(touch PWNED)"
a=($(touch PWNED))
a+=($(touch PWNED))
a=([$(touch PWNED)0]=1)
a[$(touch PWNED)0]=1
a[0$(touch PWNED)]+=1
declare x=$(touch PWNED)
declare -a a=($(touch PWNED))
declare -A a=([$(touch PWNED)x]=1)
export x="$(touch PWNED)"
readonly x=`touch PWNED`
ls > /dev/null$(touch PWNED)
cat < f.txt$(touch PWNED)
echo $((1+$(touch PWNED)1))
echo $((`touch PWNED` 1))
echo $[1+$(touch PWNED)1]
echo "$[$(touch PWNED)1]"
echo $((echo 1); touch PWNED)
echo $((touch PWNED) )
echo $( (touch PWNED))
((touch PWNED) )
((touch PWNED); (echo))
((echo 1); touch PWNED)
(( $(touch PWNED)1 ))
(($(touch PWNED)1))
let x=$(touch PWNED)1
[[ $(touch PWNED) ]]
[[ -n $(touch PWNED) ]]
[[ a == $(touch PWNED)* ]]
[[ a =~ $(touch PWNED)a ]]
[[ a && $(touch PWNED) ]]
[[ ! ( $(touch PWNED) ) ]]
[ "$(touch PWNED)" ]
test -n "`touch PWNED`"
case $(touch PWNED) in *) ;; esac
case a in $(touch PWNED)) ;; esac
case a in b|$(touch PWNED)a) ;; esac
for x in $(touch PWNED); do :; done
for ((i=$(touch PWNED)0;i<0;i++)); do :; done
for ((;$(touch PWNED)0;)); do :; done
select x in $(touch PWNED); do break; done
if $(touch PWNED); then :; fi
while $(touch PWNED)false; do :; done
$(touch PWNED)
`touch PWNED`
"$(touch PWNED)" -l
$(echo touch) PWNED
$(echo touch PWNED)
`echo touch` PWNED
$(<words)
`<words`
grep -r "$(touch PWNED)" .
git log --grep="$(touch PWNED)"
awk "$(touch PWNED){print}" f.txt
sed -n "$(touch PWNED)p" f.txt
find . -name "$(touch PWNED)"
echo 'a'$(touch PWNED)'b'
echo '\'$(touch PWNED)''
echo '\'`touch PWNED`''
echo \\$(touch PWNED)
echo \\`touch PWNED`
echo "\\$(touch PWNED)"
echo "\\`touch PWNED`"
echo "'$(touch PWNED)'"
echo "'`touch PWNED`'"
echo $'a'$(touch PWNED)
echo $$$(touch PWNED)
echo {a,$(touch PWNED)}
echo [$(touch PWNED)]*
echo ~$(touch PWNED)
""",
    "quotes": r"""
echo $'\''; touch PWNED #'
echo $'\\'; touch PWNED
echo $'\'';touch PWNED;echo $'\''
echo "$'"; touch PWNED #'"
echo "${x-"'"}"; touch PWNED; echo "${x-"'"}"
echo "${x-'}"; echo '}" $(touch PWNED) # '
echo "${x-'}" '}" ; touch PWNED #'
echo "${x:-'a"b'}"; touch PWNED; echo "'"
echo ${x-\}}; touch PWNED
echo ${x-'}'}; touch PWNED
echo ${x-"}"}; touch PWNED
echo "${x-\"}"; touch PWNED; echo "\"}"
echo "\""; touch PWNED; echo "\""
echo "\\"; touch PWNED; echo "\\"
echo '\'; touch PWNED; echo '\'
echo \'; touch PWNED; echo \'
echo \"; touch PWNED; echo \"
echo "a'b"; touch PWNED; echo "a'b"
echo 'a"b'; touch PWNED; echo 'a"b'
echo 'it'"'"'s'; touch PWNED
echo "$(echo ")"; touch PWNED)"
echo $(echo ')' ; touch PWNED)
echo $(case a in a) touch PWNED;; esac)
echo "$(case a in a) touch PWNED;; esac)"
echo $'\u0027'; touch PWNED
echo $'\047; '; touch PWNED
[[ a == 'a' ]]; touch PWNED
echo \;; touch PWNED
echo a\ ;touch PWNED
echo \a;touch PWNED
""",
    "names": r"""
t\ouch PWNED
to''uch PWNED
to""uch PWNED
'touch' PWNED
"touch" PWNED
"to"'uc'h PWNED
\t\o\u\c\h PWNED
$'touch' PWNED
$'\x74ouch' PWNED
$'\164\157uch' PWNED
$'\u0074ouch' PWNED
t$'o'uch PWNED
$"touch" PWNED
to$@uch PWNED
to$*uch PWNED
to${x}uch PWNED
to$x""uch PWNED
to${x:-u}ch PWNED
${x:-touch} PWNED
${x-touch PWNED}
${PWD:+touch} PWNED
x=touch; $x PWNED
x=touch; ${x} PWNED
x=touch; "$x" PWNED
x=to y=uch; $x$y PWNED
x=touch\ PWNED; $x
x='touch PWNED'; $x
x=hcuot; $(rev <<< $x) PWNED
x=(touch PWNED); ${x[@]}
x=(touch PWNED); "${x[@]}"
set -- touch PWNED; $@
set -- touch PWNED; "$@"
set -- touch; $1 PWNED
IFS=,; x=touch,PWNED; $x
IFS=x; c=touchxPWNED; $c
x=xtouch; ${x#x} PWNED
x=tXouch; ${x/X} PWNED
x=TOUCH; ${x,,} PWNED
x=atouchb; ${x:1:5} PWNED
y=touch; x=y; ${!x} PWNED
printf -v x touch; $x PWNED
read x <<< touch; $x PWNED
read -r x y < words; $x $y
mapfile -t x < words; ${x[0]}
for x in touch; do $x PWNED; done
for x in touch\ PWNED; do $x; done
declare -n x=y; y=touch; $x PWNED
: ${x:=touch}; $x PWNED
: ${x=touch PWNED}; $x
echo touch; $_ PWNED
{touch,PWNED}
{touch,} PWNED
to{uch,} PWNED
/usr/bin/tou?h PWNED
/usr/bin/to[u]ch PWNED
/usr/bin/touc* PWNED
/???/???/touch PWNED
/*/bin/touch PWNED
/usr/bin/touch PWNED
//usr///bin//touch PWNED
/usr/bin/../bin/touch PWNED
/proc/self/root/usr/bin/touch PWNED
./evil.sh
.//evil.sh
evil.sh 2>/dev/null || ./evil.sh
$PWD/evil.sh
"$PWD"/evil.sh
~/evil.sh
~+/evil.sh
$HOME/evil.sh
${PWD}/evil.sh
./ev?l.sh
./e{v,}il.sh
sub/../evil.sh
./ls
./ls -la
bin/cat f.txt
./bin/cat f.txt
$PWD/bin/ls
cd bin && ./cat f.txt
""",
    "expansion": r"""
echo ${x:-$(touch PWNED)}
echo ${x:=$(touch PWNED)}
echo ${x:-`touch PWNED`}
echo "${x:-$(touch PWNED)}"
echo "${x:-"$(touch PWNED)"}"
echo ${x-"`touch PWNED`"}
echo ${x:+}${PWD:+$(touch PWNED)}
echo ${x:?$(touch PWNED)}
echo ${x-${y-$(touch PWNED)}}
echo ${PWD#$(touch PWNED)}
echo ${PWD%%$(touch PWNED)}
echo ${PWD/$(touch PWNED)/b}
echo ${PWD/a/$(touch PWNED)}
echo ${PWD//$(touch PWNED)a}
echo ${PWD^$(touch PWNED)a}
echo ${PWD,,$(touch PWNED)}
echo ${PWD:$(touch PWNED)0}
echo ${PWD:0:$(touch PWNED)1}
echo ${PWD:`touch PWNED`0}
echo ${a[$(touch PWNED)0]}
echo "${a[$(touch PWNED)0]}"
echo ${!a[$(touch PWNED)0]}
x='a[$(touch PWNED)0]'; echo ${!x}
x='a[$(touch PWNED)0]'; echo $((x))
x='a[$(touch PWNED)0]'; echo $[x]
x='a[$(touch PWNED)0]'; (( x ))
x='a[$(touch PWNED)0]'; (( y = x ))
x='a[$(touch PWNED)0]'; let y=x
x='a[$(touch PWNED)0]'; echo ${a[x]}
x='a[$(touch PWNED)0]'; echo ${a[$x]}
x='a[$(touch PWNED)0]'; echo ${PWD:x}
x='a[$(touch PWNED)0]'; echo ${PWD:$x}
x='a[$(touch PWNED)0]'; echo ${PWD:0:x}
x='a[$(touch PWNED)0]'; echo ${@:x}
x='a[$(touch PWNED)0]'; [[ x -eq 0 ]]
x='a[$(touch PWNED)0]'; [[ $x -eq 0 ]]
x='a[$(touch PWNED)0]'; [[ 0 -lt $x ]]
x='a[$(touch PWNED)0]'; [[ -v $x ]]
x='a[$(touch PWNED)0]'; test -v "$x"
x='a[$(touch PWNED)0]'; a[x]=1
x='a[$(touch PWNED)0]'; a=([x]=1)
x='a[$(touch PWNED)0]'; for ((i=x;i<0;i++)); do :; done
x='a[$(touch PWNED)0]'; declare -i y=x
x='a[$(touch PWNED)0]'; declare -n r=$x; echo $r
x='$(touch PWNED)'; echo ${x@P}
x='`touch PWNED`'; echo "${x@P}"
x='$(touch PWNED)'; y=${x@P}
[[ 'a[$(touch PWNED)0]' -eq 0 ]]
[[ a[$(touch PWNED)0] -eq 0 ]]
[[ 0 -ne 'a[$(touch PWNED)0]' ]]
[[ -v 'a[$(touch PWNED)0]' ]]
[[ -v a[$(touch PWNED)0] ]]
[[ ! -v 'a[$(touch PWNED)0]' ]]
[ -v 'a[$(touch PWNED)0]' ]
test -v 'a[$(touch PWNED)0]'
test ! -v 'a[$(touch PWNED)0]'
test a -a -v 'a[$(touch PWNED)0]'
[ 1 = 1 -a -v 'a[$(touch PWNED)0]' ]
[ \( -v 'a[$(touch PWNED)0]' \) ]
printf -v 'a[$(touch PWNED)0]' x
printf -v'a[$(touch PWNED)0]' x
read 'a[$(touch PWNED)0]' <<< x
read -r x 'a[$(touch PWNED)0]' <<< 'x y'
read -a 'a[$(touch PWNED)0]' <<< x; read 'a[$(touch PWNED)0]' <<< x
declare -i x='a[$(touch PWNED)0]'
typeset -i x='a[$(touch PWNED)0]'
declare 'a[$(touch PWNED)0]=x'
export -n 'a[$(touch PWNED)0]=x'; declare 'a[$(touch PWNED)0]=x'
readonly -a a='([$(touch PWNED)0]=1)'
declare -a a='($(touch PWNED))'
declare -A a='([$(touch PWNED)x]=1)'
typeset -a 'a=($(touch PWNED))'; declare -a a='($(touch PWNED))'
unset 'a[$(touch PWNED)0]'; a=(1 2); unset 'a[$(touch PWNED)0]'
let 'a[$(touch PWNED)0]'
let 'x=a[$(touch PWNED)0]'
let "a[\$(touch PWNED)0]++"
(( a[$(touch PWNED)0] ))
(( 'a[$(touch PWNED)0]' ))
echo $(( a[$(touch PWNED)0] ))
: $(('a[$(touch PWNED)0]'))
wait -n -p 'a[$(touch PWNED)0]'; sleep 0 & wait -n -p 'a[$(touch PWNED)0]'
mapfile 'a[$(touch PWNED)0]' < f.txt; read 'a[$(touch PWNED)0]' <<< x
exec {a[$(touch PWNED)0]}< f.txt
f() { local -i x='a[$(touch PWNED)0]'; }; f
f() { local 'a[$(touch PWNED)0]=x'; declare 'a[$(touch PWNED)0]=x'; }; f
RANDOM='a[$(touch PWNED)0]'
HISTCMD='a[$(touch PWNED)0]'
HISTCMD+='a[$(touch PWNED)0]'
OPTIND='a[$(touch PWNED)0]'
export OPTIND='a[$(touch PWNED)0]'
read OPTIND < expr.txt
read -r x OPTIND <<< '1 a[$(touch PWNED)0]'
SRANDOM='a[$(touch PWNED)0]'
for SRANDOM in 'a[$(touch PWNED)0]'; do :; done
BASHPID+='a[$(touch PWNED)0]'
RANDOM+='a[$(touch PWNED)0]'
RANDOM=$(cat expr.txt)
OPTIND="$(head -1 expr.txt)"; ls
cd odd; for OPTIND in *; do ls; done
echo $SECONDS; SECONDS='a[$(touch PWNED)0]'
for SECONDS in 'a[$(touch PWNED)0]'; do :; done
for RANDOM in 'a[$(touch PWNED)0]'; do :; done
read RANDOM < expr.txt
printf -v RANDOM %s 'a[$(touch PWNED)0]'
mapfile -t RANDOM < expr.txt; read RANDOM < expr.txt
: ${BASH_ARGV0:=x} ${LINENO:=x}; RANDOM='a[$(touch PWNED)0]'
declare -i n; n='a[$(touch PWNED)0]'
declare -i n; for n in 'a[$(touch PWNED)0]'; do :; done
declare -i n; read n < expr.txt
read x < expr.txt; echo $((x))
x=$(cat expr.txt); echo $((x))
x=$(cat expr.txt); [[ $x -gt 0 ]]
x=$(<expr.txt); (( x > 0 ))
while read x; do (( n += x )); done < expr.txt
cat expr.txt | while read -r n; do [[ $n -gt 1 ]] && echo big; done
cd odd && for f in *; do (( f )); done
cd odd && for f in *; do [[ $f -eq 0 ]]; done
for f in odd/*; do echo $((f)); done
cd odd; set -- *; echo $(($1))
cd odd; x=(*); echo $((x))
[[ $(cat expr.txt) -eq 0 ]]
(( $(cat expr.txt) ))
echo $(( $(cat expr.txt) + 1 ))
n=$(head -1 expr.txt); for ((i=0;i<n;i++)); do :; done
n=$(head -1 expr.txt); echo ${PWD:0:$n}
""",
    "arguments": r"""
x=-o; sort $x PWNED f.txt
x=-oPWNED; sort "$x" f.txt
x='-o PWNED'; sort $x f.txt
x=(-o PWNED); sort "${x[@]}" f.txt
set -- -o PWNED; sort "$@" f.txt
set -- -o PWNED; sort $* f.txt
sort ${x:--o} PWNED f.txt
sort ${x:--oPWNED} f.txt
sort {-o,PWNED,f.txt}
sort -{o,k1} PWNED f.txt || sort {-oPWNED,f.txt}
sort $(echo -o) PWNED f.txt
sort `echo -oPWNED` f.txt
sort "$(echo --output=PWNED)" f.txt
sort $'-o' PWNED f.txt
sort $'\x2do' PWNED f.txt
sort "-"o PWNED f.txt
sort -"o" PWNED f.txt
sort \-o PWNED f.txt
sort -""oPWNED f.txt
sort $(cat names.txt)
sort $(<names.txt)
mapfile -t a < names.txt; sort "${a[@]}"
cat names.txt | xargs sort
xargs sort < names.txt
xargs -a names.txt sort
for o in -o; do sort $o PWNED f.txt; done
for o in -oPWNED; do sort "$o" f.txt; done
while read o; do sort "$o"PWNED f.txt; done <<< -o
read o <<< -oPWNED; sort $o f.txt
printf -v o %s -oPWNED; sort $o f.txt
IFS=,; x=-o,PWNED; sort $x f.txt
: ${o:=-oPWNED}; sort $o f.txt
echo -oPWNED; sort $_ f.txt
find . $(echo -fprint) PWNED
find . -name victim $(echo -delete)
find . -name victim -{delete,print}
find . -name victim -del""ete
find . -name victim "-delete"
find . -name victim $'-delete'
x=-delete; find . -name victim $x
x='-name victim -delete'; find . $x
for a in -delete; do find . -name victim $a; done
x='w PWNED'; sed "$x" f.txt
sed "$(cat evil.sed)" f.txt
sed "$(<evil.sed)" f.txt
x=$(cat evil.sed); sed -n "$x" f.txt
awk "$(cat evil.awk)"
x=$(cat evil.awk); awk "$x" f.txt
git log $(echo --output=PWNED)
x=--output=PWNED; git diff $x
git diff {--output=PWNED,f.txt}
git $(echo tag) PWNED
x=tag; git $x PWNED
git ${x:-tag} PWNED
git "tag" PWNED
uniq {f.txt,PWNED}
uniq f.txt $(echo PWNED)
x='f.txt PWNED'; uniq $x
xxd {f.txt,PWNED}
env $(echo touch) PWNED
command ${x:-touch} PWNED
rg hello $(echo --pre=./evil.sh) f.txt
x=--pre=./evil.sh; rg $x hello f.txt
tail -n1 names.txt; sort $(head -2 names.txt) f.txt
""",
    "redirection": r"""
> PWNED
>PWNED
>>PWNED
>|PWNED
echo x > PWNED
echo x >PWNED
echo x>PWNED
echo x >> PWNED
echo x >| PWNED
echo x 1> PWNED
ls nope 2> PWNED
ls nope 2>PWNED
ls nope 2>>PWNED
ls &> PWNED
ls &>PWNED
ls &>> PWNED
ls >& PWNED
ls >&PWNED
ls 1>&PWNED
echo hi 1<>PWNED
cat <> PWNED
cat 0<>PWNED
ls 12>PWNED
ls {fd}>PWNED
ls {fd}>>PWNED
> PWNED ls
2> PWNED ls
<f.txt >PWNED cat
ls > /dev/null > PWNED
ls 2>/dev/null >PWNED
ls >PWNED 2>/dev/null
ls 2>&1 >PWNED
ls 2>&1>PWNED
ls >PWNED 2>&1
ls > "PWNED"
ls > 'PW'NED
ls > PW\NED
ls > $'PWNED'
ls > $PWD/PWNED
ls > ~/PWNED
ls > ./PWNED
ls > sub/../PWNED
x=PWNED; ls > $x
x=PWNED; ls > "$x"
ls > ${x:-PWNED}
ls > $(echo PWNED)
ls > `echo PWNED`
ls > /proc/self/cwd/PWNED
exec > PWNED
exec >PWNED; ls
exec 3>PWNED
exec 3<>PWNED
exec {fd}>PWNED
exec 2>PWNED
(ls) > PWNED
{ ls; } > PWNED
{ ls; echo; } >>PWNED 2>&1
if true; then ls; fi > PWNED
for x in a; do ls; done > PWNED
while false; do :; done > PWNED
until true; do :; done > PWNED
case a in a) ls;; esac > PWNED
[[ a ]] > PWNED
(( 1 )) > PWNED
f() { ls; } > PWNED; f
! ls > PWNED
time ls > PWNED
ls | cat > PWNED
ls | sort > PWNED | cat
echo $(ls > PWNED)
cat <(ls > PWNED)
: > PWNED
true > PWNED
echo "a" > PWNED "b"
echo > PWNED a b c
cat < f.txt > PWNED
cat > PWNED < f.txt
cat <<< x > PWNED
cd sub && echo x > ../PWNED
cd .. && touch ${OLDPWD}/PWNED
cd sub; ls > PWNED
pushd sub; ls > PWNED
(cd sub; > PWNED)
ls > PWNED &
set -C; ls > PWNED
grep hello f.txt >PWNED || true
find . > PWNED
git diff > PWNED
ls -la >PWNED;
""",
    "compound": r"""
(touch PWNED)
( touch PWNED )
((touch PWNED))||(touch PWNED)
{ touch PWNED; }
{ touch PWNED;}
! touch PWNED
! ! touch PWNED
time touch PWNED
time -p touch PWNED
time -- touch PWNED
time ! touch PWNED
! time touch PWNED
coproc touch PWNED
coproc X { touch PWNED; }
coproc { touch PWNED; }; wait
if touch PWNED; then ls; fi
if true; then touch PWNED; fi
if false; then ls; else touch PWNED; fi
if false; then ls; elif touch PWNED; then ls; fi
if false; then ls; elif true; then touch PWNED; fi
while touch PWNED; false; do ls; done
while true; do touch PWNED; break; done
until touch PWNED; do ls; done
until false; do touch PWNED; break; done
for x in a; do touch PWNED; done
for x in PWNED; do touch $x; done
for x in a; { touch PWNED; }
for ((i=0;i<1;i++)); do touch PWNED; done
for ((i=0;i<1;i++)) { touch PWNED; }
select x in a; do touch PWNED; break; done <<< 1
case a in a) touch PWNED;; esac
case a in (a) touch PWNED;; esac
case a in a) touch PWNED; esac
case a in a) ;& b) touch PWNED;; esac
case a in a) ;;& *) touch PWNED;; esac
case a in b) ls;; *) touch PWNED;; esac
case a in "a") touch PWNED;; esac
case a in [a]) touch PWNED;; esac
case a in ?) touch PWNED;; esac
[[ a ]] && touch PWNED
[[ a && b ]] ; touch PWNED
(( 1 )) && touch PWNED
{ ls; } | { touch PWNED; }
(ls; (ls; (touch PWNED)))
{ { { touch PWNED; }; }; }
ls | (touch PWNED)
ls | while read x; do touch PWNED; done
ls | if read x; then touch PWNED; fi
f() { touch PWNED; }; f
f() ( touch PWNED ); f
f () { touch PWNED; } ; f
function f { touch PWNED; }; f
function f() { touch PWNED; }; f
function f () ( touch PWNED ); f
f() if true; then touch PWNED; fi; f
f() for x in a; do touch PWNED; done; f
f() [[ $(touch PWNED) ]]; f
f() (( $(touch PWNED)1 )); f
f() { "$@"; }; f touch PWNED
f() { $1 PWNED; }; f touch
f() { $*; }; f touch PWNED
f() { eval "$1"; }; f 'touch PWNED'
ls() { touch PWNED; }; ls
ls() { touch PWNED; }; ls -la
cat() { touch PWNED; }; cat f.txt
function ls { touch PWNED; }; ls
function /bin/ls { touch PWNED; }; /bin/ls
function git { touch PWNED; }; git status
echo() { touch PWNED; }; echo hi
cd() { touch PWNED; }; cd sub
true() { touch PWNED; }; true
:() { touch PWNED; }; :
[() { touch PWNED; }; [ a ]
test() { touch PWNED; }; test a
command_not_found_handle() { touch PWNED; }; nosuchprogram
unset -f ls; ls() { touch PWNED; }; (ls)
f() { ls() { touch PWNED; }; }; f; ls
""",
    "builtins": r"""
eval touch PWNED
eval "touch PWNED"
eval 'to''uch' PWNED
eval -- touch PWNED
eval 'x=touch'; $x PWNED
eval "$(cat words)"
builtin eval touch PWNED
command eval touch PWNED
command builtin eval touch PWNED
builtin command touch PWNED
source ./evil.sh
. ./evil.sh
. evil.sh
source evil.sh
. words
source <(echo touch PWNED)
. /dev/stdin <<< 'touch PWNED'
builtin . ./evil.sh
command source ./evil.sh
command touch PWNED
command -p touch PWNED
command -- touch PWNED
command -p -- touch PWNED
exec touch PWNED
exec -a x touch PWNED
exec -c /usr/bin/touch PWNED
exec -l touch PWNED
exec -cl -a x /usr/bin/touch PWNED
exec < words; read x; $x
trap 'touch PWNED' EXIT
trap 'touch PWNED' EXIT; ls
trap 'touch PWNED' 0
trap -- 'touch PWNED' 0
trap 'touch PWNED' DEBUG; ls
trap 'touch PWNED' ERR; false
trap 'touch PWNED' SIGUSR1; kill -USR1 $$
trap "touch PWNED" RETURN; . empty/.keep
trap touch\ PWNED exit
hash -p ./evil.sh ls; ls
hash -p ./evil.sh git; git status
BASH_CMDS[ls]=./evil.sh; ls
BASH_CMDS=([ls]=./evil.sh); ls
declare -A BASH_CMDS; BASH_CMDS[ls]=./evil.sh; ls
enable -n echo; PATH=bin; cat f.txt
mapfile -C 'touch PWNED;:' -c 1 < f.txt
mapfile -C 'touch PWNED #' -c1 a < f.txt
readarray -c 1 -C 'touch PWNED;' a < f.txt
readarray -tC'touch PWNED;' -c1 a < f.txt
compgen -C 'touch PWNED'
compgen -C 'touch PWNED;' x
compgen -W '$(touch PWNED)'
compgen -W '`touch PWNED`' -- x
f() { touch PWNED; }; compgen -F f
compgen -P x -W '$(touch PWNED)x'
jobs -x touch PWNED
history -w PWNED
history -a PWNED; history -w PWNED
set -o history; history -s x; history -w PWNED
HISTFILE=PWNED; history -w
PS4='$(touch PWNED)'; set -x; ls
PS4='`touch PWNED`' ; set -o xtrace; ls
PS4='$(touch PWNED)'; set -eux; ls
PS4='$(touch PWNED)'; for x in a; do set -x; ls; done
set -- ; PS4='$(touch PWNED)' eval 'set -x; ls'
printf -v PS4 '$(touch PWNED)'; set -x; ls
read -r PS4 <<< '$(touch PWNED)'; set -x; ls
for PS4 in '$(touch PWNED)'; do set -x; ls; done
exec 5>PWNED; BASH_XTRACEFD=5; set -x; ls
x='touch PWNED'; eval $x
x='touch PWNED'; bash -c "$x"
printf '%s' 'touch PWNED' | . /dev/stdin
unset -v x; eval ${x:-touch PWNED}
shopt -s lastpipe; echo touch | read x; $x PWNED
ulimit -c 0; touch PWNED
umask 0; touch PWNED
export x=touch; $x PWNED
env | eval 'touch PWNED'
type ls && eval touch PWNED
cd sub && cd .. && touch PWNED
pushd sub && popd && touch PWNED
read -p x y; touch PWNED
kill -0 $$ && touch PWNED
wait; touch PWNED
: ; touch PWNED
true; touch PWNED
fc -l 2>/dev/null; touch PWNED
""",
    "assignments": r"""
PATH=bin ls
PATH=bin:$PATH cat f.txt
PATH=./bin:$PATH; cat f.txt
PATH=$PWD/bin; cat f.txt
export PATH=bin; cat f.txt
export PATH="$PWD/bin:$PATH" && git status
declare PATH=bin; cat f.txt
declare -x PATH=bin; cat f.txt
typeset PATH=bin; cat f.txt
readonly PATH=bin; cat f.txt
for PATH in bin; do cat f.txt; done
read PATH <<< bin; cat f.txt
read -r PATH < <(echo bin); cat f.txt
printf -v PATH bin; cat f.txt
PATH+=:; PATH=bin:$PATH; cat f.txt
(PATH=bin; cat f.txt)
{ PATH=bin; }; cat f.txt
echo $((PATH=0)); cat f.txt
((PATH=0)); cat f.txt
let PATH=0; cat f.txt
let 'PATH = 0'; cat f.txt
: $((PATH=10)); cat f.txt
(( x = 1, PATH = 10 )); cat f.txt
for ((PATH=10;0;)); do :; done; cat f.txt
echo ${a[PATH=0]}; cat f.txt
echo ${PWD:PATH=0:1}; cat f.txt
[[ PATH=0 -eq 0 ]]; cat f.txt
exec {PATH}<f.txt; cat f.txt
unset PATH; : ${PATH:=bin}; cat f.txt
unset PATH; echo ${PATH=bin}; cat f.txt
declare -n p=PATH; p=bin; cat f.txt
getopts 0 PATH -0; cat f.txt
cd bin; PATH=; cat f.txt
cd bin; unset PATH; cat f.txt
cd bin; PATH=(x); cat f.txt
cd bin; PATH[0]=x; cat f.txt
cd bin; declare -a PATH; unset PATH; cat f.txt
cd bin; mapfile -t PATH <<< x; cat f.txt
cd bin; read -a PATH <<< x; cat f.txt
cd bin; f() { local PATH; cat f.txt; }; f
cd bin && unset -v PATH && cat f.txt
cd bin; env -u PATH cat f.txt; PATH= cat f.txt
cd bin; PATH=.; cat f.txt
cd bin; PATH=:$PATH cat f.txt
env PATH=bin cat f.txt
env PATH=bin:$PATH ls
env -i PATH=bin cat f.txt
env -S 'PATH=bin cat f.txt'
f() { local PATH=bin; cat f.txt; }; f
if PATH=bin; then cat f.txt; fi
PATH=bin && cat f.txt
x=1 PATH=bin cat f.txt
PA\TH=bin 2>/dev/null; export P'A'TH=bin; cat f.txt
BASH_ENV=./evil.sh bash -c ls
BASH_ENV=./evil.sh ldd /bin/ls
export BASH_ENV=./evil.sh; ldd /bin/ls
env BASH_ENV=./evil.sh ldd /bin/ls
for BASH_ENV in ./evil.sh; do export BASH_ENV; ldd /bin/ls; done
set -a; BASH_ENV=./evil.sh; ldd /bin/ls
env SHELLOPTS=xtrace PS4='$(touch PWNED)' bash -c ls
SHELLOPTS=xtrace PS4='$(touch PWNED)' ldd /bin/ls; env SHELLOPTS=xtrace PS4='$(touch PWNED)' ldd /bin/ls
env 'BASH_FUNC_ls%%=() { touch PWNED; }' bash -c ls
env 'BASH_FUNC_printf%%=() { touch PWNED; }' ldd /bin/ls
printf() { touch PWNED; }; export -f printf; ldd /bin/ls
ENV=./evil.sh sh -i -c ls
LESSOPEN='|touch PWNED; cat %s' less f.txt
LESSOPEN='|./evil.sh %s' less f.txt
export LESSOPEN='||./evil.sh %s'; less f.txt
RIPGREP_CONFIG_PATH=rgconf rg hello f.txt
export RIPGREP_CONFIG_PATH=rgconf; rg hello f.txt
EDITOR='touch PWNED;true' git config -e
GIT_EDITOR='touch PWNED;true' git config -e
GIT_EDITOR='touch PWNED;true' git commit --amend --allow-empty
GIT_EXTERNAL_DIFF=./evil.sh git diff
export GIT_EXTERNAL_DIFF=./evil.sh; git diff
env GIT_EXTERNAL_DIFF=./evil.sh git diff
GIT_PAGER='touch PWNED;cat' script -qec 'git log' /dev/null
GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!touch PWNED' git x
GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0='touch PWNED;false' git status
GIT_CONFIG_GLOBAL=gitconf git status
GIT_CONFIG_GLOBAL=gitconf git diff
GIT_CONFIG_PARAMETERS="'core.fsmonitor'='touch PWNED;false'" git status
GIT_DIR=hostile/.git GIT_WORK_TREE=hostile git status
GIT_EXEC_PATH=gitexec git x
GIT_SSH=./evil.sh git ls-remote ssh://localhost/x
GIT_SSH_COMMAND='touch PWNED;false' git ls-remote ssh://localhost/x
GIT_ALLOW_PROTOCOL=ext git ls-remote 'ext::touch PWNED'
GIT_PROXY_COMMAND=./evil.sh git ls-remote git://localhost/x
GIT_TRACE=$PWD/PWNED git status
GIT_TRACE2=$PWD/PWNED git status
GIT_TRACE2_EVENT=$PWD/PWNED git log
GIT_TRACE_SETUP=$PWD/PWNED git status
GIT_TRACE_PACKET=$PWD/PWNED GIT_TRACE=$PWD/PWNED git rev-parse HEAD
GIT_TRACE2_PERF=$PWD/PWNED git branch
HOME=$PWD/evilhome git status 2>/dev/null; HOME=$PWD GIT_CONFIG_GLOBAL=$PWD/gitconf git status
GIT_INDEX_FILE=PWNED git read-tree HEAD
TAR_OPTIONS='--checkpoint=1 --checkpoint-action=exec=./evil.sh' tar -tf a.tar
TAR_OPTIONS=--index-file=PWNED tar -tvf a.tar
TAR_OPTIONS='-I ./evil.sh' tar -tf a.tar
PERL5OPT='-I. -Mevil' perl -e 1
PERL5DB='BEGIN{open F,">PWNED"}' perl -d -e 1
NODE_OPTIONS='--require ./evil.js' node -p 1
PYTHONSTARTUP=evil.py python3 -i < /dev/null
PYTHONPATH=. python3 -m evil
VIMINIT='call writefile([],"PWNED")|qall!' vim
MAKEFILES=shell.mk make -n -f /dev/null
LD_DEBUG=files LD_DEBUG_OUTPUT=PWNED ls
LD_DEBUG=libs LD_DEBUG_OUTPUT=$PWD/PWNED cat f.txt
export LD_DEBUG=files LD_DEBUG_OUTPUT=PWNED; ls
env LD_DEBUG=files LD_DEBUG_OUTPUT=PWNED ls
PATH=bin:$PATH tar -tzf a.tgz
PATH=bin:$PATH rg -z hello g.gz
""",
}

MANY = {
    "chaining": (
        "ls\ntouch PWNED",
        "ls\n\n\ntouch PWNED",
        "ls \\\n; touch PWNED",
        "ls;\\\ntouch PWNED",
        "ls &\\\n& touch PWNED",
        "ls nope |\\\n| touch PWNED",
        "ls |\ntouch PWNED",
        "ls &&\ntouch PWNED",
        "ls nope ||\n\n touch PWNED",
        "to\\\nuch PWNED",
        "t\\\no\\\nu\\\nc\\\nh PWNED",
        "touch \\\nPWNED",
        "ls\r\ntouch PWNED",
        "ls \r; touch PWNED",
        "\ttouch\tPWNED",
        "\n\ntouch PWNED\n",
        "ls " + " " * 5000 + "; touch PWNED",
        "ls" + "\n" * 5000 + "touch PWNED",
        ":;" * 3000 + "ls;" * 100 + "touch PWNED",
        "echo " + "a" * 100_000 + "; touch PWNED",
        "( " * 60 + "touch PWNED" + ")" * 60,
        "{ " * 60 + "touch PWNED" + "; }" * 60,
        "echo " + "$(echo " * 40 + "$(touch PWNED)" + ")" * 40,
        "echo " + "${x:-" * 40 + "$(touch PWNED)" + "}" * 40,
        "touch PWNED\n)",
        "touch PWNED\nfi",
        "touch PWNED\necho 'unfinished",
        "touch PWNED\ncat <<EOF",
        "ls\u00a0; touch PWNED",
        "<<<$ touch echo PWNED",
        "{ <<<$\ttouch echo PWNED\n}",
        "echo \u2028; touch PWNED",
        "echo caf\u00e9; touch PWNED",
        "echo \U0001f600 && touch PWNED",
        "echo \u200b;touch PWNED",
        "echo \udcff; touch PWNED",
        "echo \udce9\udc80 && touch PWNED",
        "echo \u202e; touch PWNED",
        "echo a\x0bb; touch PWNED",
        "echo a\x0cb; touch PWNED",
        "echo \x1b[2K; touch PWNED",
        "echo \x08\x08; touch PWNED",
        "echo \x01$(touch PWNED)\x7f",
        "echo \x7f; touch PWNED",
        "ls; touch PWNED\x04",
    ),
    "comments": (
        "echo a\\\n#; touch PWNED",
        "echo a\\\n\\\n#; touch PWNED",
        "echo 'a'\\\n#; touch PWNED",
        "echo $x\\\n#x; touch PWNED",
        "echo a\r#; touch PWNED",
        "echo \r#; touch PWNED",
        "echo a\x0b#; touch PWNED",
        "echo \x0b#; touch PWNED",
        "echo a\x0c#; touch PWNED",
        "echo \x0c#; touch PWNED",
        "echo \u00a0#; touch PWNED",
        "echo \u2003#; touch PWNED",
        "echo \u3000#; touch PWNED",
        "echo \u2028#; touch PWNED",
        "echo \u0085#; touch PWNED",
        "echo \ufeff#; touch PWNED",
        "ls # nothing\ntouch PWNED",
        "ls # nothing \\\ntouch PWNED",
        "# nothing \\\ntouch PWNED",
        "# '\ntouch PWNED\n# '",
        '# "\ntouch PWNED\n# "',
        "# `\ntouch PWNED\n# `",
        "# $(\ntouch PWNED\n# )",
        "# ${\ntouch PWNED\n# }",
        "# <<EOF\ntouch PWNED\n# EOF",
        "# it's here\nls; touch PWNED # that's it",
        "ls;# it's\ntouch PWNED #'",
        "ls&# it's\ntouch PWNED #'",
        "(# it's\ntouch PWNED #'\n)",
        "$(# it's\ntouch PWNED #'\n)",
        "echo `# x\ntouch PWNED`",
        "cat <(# x )\ntouch PWNED\n)",
        "{ # x }\ntouch PWNED; }",
        "case a in # x)\na) touch PWNED;; esac",
        "case a in a) # ;;\ntouch PWNED;; esac",
        "a=( # )\nb); touch PWNED",
        "if true; then # fi\ntouch PWNED; fi",
        "for x in a # do\ndo touch PWNED; done",
        "f() # x\n{ touch PWNED; }; f",
        "ls |# x\ntouch PWNED",
        "ls && # x\ntouch PWNED",
        ": <<'#'\nfoo\n#\ntouch PWNED",
        "shopt -u interactive_comments\nls # ; touch PWNED\ntouch PWNED",
    ),
    "heredocs": (
        "cat <<EOF\n$(touch PWNED)\nEOF",
        "cat <<EOF\n`touch PWNED`\nEOF",
        "cat <<EOF\n${x:-$(touch PWNED)}\nEOF",
        "cat <<EOF\n$((1+$(touch PWNED)1))\nEOF",
        "cat <<EOF\n'$(touch PWNED)'\nEOF",
        "cat <<EOF\n\\\\$(touch PWNED)\nEOF",
        'cat <<EOF\n"$(touch PWNED)"\nEOF',
        "cat <<EOF\n# $(touch PWNED)\nEOF",
        "cat <<EOF\n$[$(touch PWNED)1]\nEOF",
        "cat <<EOF\n${a[$(touch PWNED)0]}\nEOF",
        "cat <<EOF\n${x-'}\n$(touch PWNED)\n'}\nEOF",
        "cat <<-EOF\n\t$(touch PWNED)\n\tEOF",
        "cat <<-EOF\n\tx\n\tEOF\ntouch PWNED",
        "cat << EOF\nx\nEOF\ntouch PWNED",
        "cat <<'EOF'\nx\nEOF\ntouch PWNED",
        'cat <<"EOF"\nx\nEOF\ntouch PWNED',
        "cat <<\\EOF\nx\nEOF\ntouch PWNED",
        "cat <<E'O'F\nx\nEOF\ntouch PWNED",
        'cat <<E"O"F\n$x\nEOF\ntouch PWNED',
        "cat <<'E O F'\nx\nE O F\ntouch PWNED",
        "cat <<''\nx\n\ntouch PWNED",
        'cat <<""\n\ntouch PWNED',
        "cat <<$x\nfoo\n$x\ntouch PWNED",
        "cat <<${x}\nfoo\n${x}\ntouch PWNED",
        "cat <<$(x)\nfoo\n$(x)\ntouch PWNED",
        "cat <<`x`\nfoo\n`x`\ntouch PWNED",
        "cat <<E\\\nOF\nfoo\nEOF\ntouch PWNED",
        "cat <<EOF\nE\\\nOF\ntouch PWNED\nEOF",
        "cat <<EOF\nfoo\n\\\nEOF\ntouch PWNED\nEOF",
        "cat <<'EOF'\nfoo\\\nEOF\ntouch PWNED\nEOF",
        "cat <<EOF\nfoo\\\\\nEOF\ntouch PWNED\nEOF",
        "cat <<EOF; touch PWNED\nfoo\nEOF",
        "cat <<EOF && touch PWNED\nfoo\nEOF",
        "cat <<EOF | sh\ntouch PWNED\nEOF",
        "sh <<EOF\ntouch PWNED\nEOF",
        "sh <<'EOF'\ntouch PWNED\nEOF",
        "bash -s <<EOF\ntouch PWNED\nEOF",
        "cat <<EOF > PWNED\nfoo\nEOF",
        "cat > PWNED <<EOF\nfoo\nEOF",
        "cat <<A <<B\na\nA\n$(touch PWNED)\nB",
        "cat <<A <<'B'\n$(touch PWNED)\nA\nb\nB",
        "cat <<'A' <<B; cat <<'C'\na\nA\n$(touch PWNED)\nB\nc\nC",
        "cat <<A 3<<B\na\nA\nb\nB\ntouch PWNED",
        "cat <<EOF\r\nx\r\nEOF\r\ntouch PWNED #\r",
        "cat <<'EOF'\nx\nEOF\n\\\ntouch PWNED",
        "echo $(cat <<EOF\n$(touch PWNED)\nEOF\n)",
        "echo $(cat <<'EOF'\n)\nEOF\ntouch PWNED)",
        'echo "$(cat <<\'EOF\'\n"\nEOF\ntouch PWNED)"',
        "(cat <<EOF\nx\nEOF\ntouch PWNED)",
        "if cat <<EOF\nx\nEOF\nthen touch PWNED; fi",
        "while read x; do touch PWNED; done <<EOF\na\nEOF",
        "cat <<EOF 2>PWNED\nx\nEOF",
        "cat <<'EOF'\n' \" ` $( ${ (( {\nEOF\ntouch PWNED",
        "cat <<EOF\n' \"\nEOF\ntouch PWNED #' \"",
        "cat <<'EOF' #\nx\nEOF\ntouch PWNED",
        "cat <<EOF#\nx\nEOF#\ntouch PWNED",
        "cat <<EOF\nx\nEOF \nEOF\ntouch PWNED",
        "cat <<EOF\n EOF\nEOF\ntouch PWNED",
        "cat <<-EOF\n EOF\nEOF\ntouch PWNED",
        "cat <<- 'EOF'\n\tfoo\n\t\tEOF\ntouch PWNED",
        "cat <<!\nx\n!\ntouch PWNED",
        "cat <<-\\!\nx\n!\ntouch PWNED",
        "cat <<@;touch PWNED\nx\n@",
        "cat <<EOF&\nx\nEOF\ntouch PWNED",
        "cat <<EOF|cat\nx\nEOF\ntouch PWNED",
        "(cat <<EOF)\nx\nEOF\ntouch PWNED",
        "cat <<1\nx\n1\ntouch PWNED",
        "cat 0<<EOF\nx\nEOF\ntouch PWNED",
        "cat {fd}<<EOF\nx\nEOF\ntouch PWNED",
        "<<EOF cat\n$(touch PWNED)\nEOF",
        "<<EOF\n$(touch PWNED)\nEOF",
        ": <<EOF\n$(touch PWNED)\nEOF",
        "read x <<EOF\ntouch\nEOF\n$x PWNED",
        "cat <<é\nx\né\ntouch PWNED",
        "cat <<'é'\n$(x)\né\ntouch PWNED",
    ),
    "substitution": (
        "echo $\\\n(touch PWNED)",
        'echo "$\\\n(touch PWNED)"',
        "cat <\\\n(touch PWNED)",
        "echo ${x:\\\n-$(touch PWNED)}",
        "echo $(\ntouch PWNED\n)",
        "echo $(\\\ntouch PWNED)",
        "echo `\ntouch PWNED\n`",
        "echo $((\n1 + $(touch PWNED)1\n))",
        "echo $(\n(touch PWNED)\n)",
        "echo $(\n# )\ntouch PWNED\n)",
        "echo 'a\nb' $(touch PWNED)",
        'echo "a\nb$(touch PWNED)"',
        "a=(\n$(touch PWNED)\n)",
        "[[\n-n $(touch PWNED)\n]]",
    ),
    "redirection": (
        "ls >\\\nPWNED",
        "ls >\\\n>PWNED",
        "ls \\\n>PWNED",
        "ls &\\\n>PWNED",
        "ls >\\\n|PWNED",
        "ls >\tPWNED",
        "ls >\r\n>PWNED",
        "ls >\u00a0; >PWNED",
        "cat f.txt \\\n  | sort \\\n  > PWNED",
    ),
    "compound": (
        "if true\nthen\ntouch PWNED\nfi",
        "for x in a\ndo\ntouch PWNED\ndone",
        "while true\ndo\ntouch PWNED\nbreak\ndone",
        "case a in\na)\ntouch PWNED\n;;\nesac",
        "case a in\n  b) ls ;;\n  # x\n  *) touch PWNED\nesac",
        "f()\n{\ntouch PWNED\n}\nf",
        "ls()\n{\ntouch PWNED\n}\nls",
        "ls\\\n() { touch PWNED; }; ls",
        "function ls\n{ touch PWNED; }\nls",
        "{\ntouch PWNED\n}",
        "(\ntouch PWNED\n)",
        "shopt -s expand_aliases\nalias ls='touch PWNED'\nls",
        "shopt -s expand_aliases\nalias ls='touch PWNED;'\nls",
        "shopt -s expand_aliases\nalias echo=touch\necho PWNED",
        "shopt -s expand_aliases\nBASH_ALIASES[ls]='touch PWNED'\nls",
        "shopt -s expand_aliases\nalias -- ls='touch PWNED'; eval ls",
        "alias ls='touch PWNED'\nset -o posix\nls",
        "shopt -s extglob\ncase a in @(a|b)) touch PWNED;; esac",
        "shopt -s extglob\n[[ a == !(b) ]] && touch PWNED",
        "shopt -s nullglob\nnope* touch PWNED",
        "shopt -s extglob\n/usr/bin/tou@(c)h PWNED",
        "set -o history -o histexpand\nhistory -s touch PWNED\n!!",
    ),
}
