"""Dangerous lines from a second review: options of otherwise harmless commands that the classifier has to know."""

LINES = {
    "git again": r"""
git branch -v PWNED
git branch -vv PWNED
git branch --sort=refname PWNED
git branch --sort refname PWNED
git branch --format=x PWNED
git branch --column PWNED
git branch --no-column PWNED
git branch --abbrev=7 PWNED
git branch --no-abbrev PWNED
git branch --color PWNED
git branch --no-color PWNED
git branch -i PWNED
git branch --ignore-case PWNED
git branch --verbose PWNED
git branch -q -v PWNED
git tag --sort=refname PWNED
git tag --sort refname PWNED
git tag --column PWNED
git tag --no-column PWNED
git tag --format=x PWNED
git tag --color PWNED
git tag -i PWNED
git tag --ignore-case PWNED
git branch -v -m PWNED
git stash -q; git stash list --output=PWNED
git reflog show HEAD --output=PWNED
git reflog HEAD --output=PWNED
git reflog --output PWNED
git rev-list --output=PWNED HEAD
git blame --output=PWNED f.txt
git annotate --output=PWNED f.txt
git log HEAD --output=PWNED
git diff HEAD HEAD --output=PWNED
git show v0 --output=PWNED
git grep -nIO./evil.sh hello
git grep -e hello -O./evil.sh
git grep --op=./evil.sh hello
git grep --open-files-in=./evil.sh hello
git grep -hO./evil.sh hello
git grep -cO./evil.sh hello
git remote -v update
git remote --verbose update
git remote -v rename origin PWNED
git config -z a.b c
git config --show-scope a.b c
git config --bool a.b true
git config --includes a.b c
git config --local a.b c
git config --worktree a.b c
git -C . branch PWNED
git --no-pager branch PWNED
git -P tag PWNED
git --literal-pathspecs tag PWNED
git --no-replace-objects branch PWNED
git --no-optional-locks tag PWNED
git -C sub -C .. tag PWNED
git --no-pager --no-pager tag PWNED
git diff --no-index /dev/null f.txt --output=PWNED
git diff --ext-diff --output=PWNED
""",
    "writers again": r"""
tee - < f.txt
xxd -s 0 f.txt PWNED
xxd -s0 f.txt PWNED
xxd -c 16 -l 5 f.txt PWNED
xxd -l5 f.txt PWNED
xxd -seek 1 f.txt PWNED
xxd -cols 8 f.txt PWNED
xxd -- f.txt PWNED
xxd -r -p f.txt PWNED
xxd -ps f.txt PWNED
xxd -i f.txt PWNED
xxd -e -g 4 f.txt PWNED
xxd -o 5 f.txt PWNED
xxd -b f.txt PWNED
xxd -u -a -d f.txt PWNED
xxd -n name f.txt PWNED
xxd -E f.txt PWNED
xxd -len 5 -plain f.txt PWNED
xxd - PWNED
xxd -a f.txt PWNED
uniq -1 f.txt PWNED
uniq +1 f.txt PWNED
uniq -w3 f.txt PWNED
uniq -w 3 f.txt PWNED
uniq --skip-fields=1 f.txt PWNED
uniq --skip-fields 1 f.txt PWNED
uniq -s 2 -f 1 f.txt PWNED
uniq -cd f.txt PWNED
uniq f.txt -c PWNED
uniq f.txt PWNED -c
uniq -D f.txt PWNED
uniq --all-repeated=none f.txt PWNED
uniq --group f.txt PWNED
uniq -z f.txt PWNED
uniq --check-chars 3 f.txt PWNED
shuf --outp=PWNED f.txt
shuf -eo PWNED a
shuf -n1 -oPWNED f.txt
shuf -i 1-3 -o PWNED
shuf -ro PWNED -n 1 f.txt
shuf -zo PWNED f.txt
sort --ou=PWNED f.txt
sort --o=PWNED f.txt
sort -S 1k --comp=./evil.sh -T. /usr/bin/git
sort -S 1k --co=./evil.sh -T. /usr/bin/git
sort -S1k -T . --compress-prog ./evil.sh /usr/bin/git
sort -T . -S 1k /usr/bin/git --compress-program=./evil.sh
sort -k 1 -ro PWNED f.txt
sort +1 -oPWNED f.txt
sort -n -k2,2 -t' ' f.txt -oPWNED
sort -zo PWNED f.txt
sort -so PWNED f.txt
sort --parallel=1 -oPWNED f.txt
""",
    "names and numbers": r"""
ls | tee -
ls | tee -a -
ls | tee -- -
ls | tee /dev/stderr PWNED
ls | tee -ai PWNED
ls | tee --append PWNED
ls | tee --output-error=warn PWNED
file -C
file -bC
file -m /dev/null -C
printf "-v" 'a[$(touch PWNED)0]' x
printf -v "a[\$(touch PWNED)0]" x
x=-v; printf $x 'a[$(touch PWNED)0]' y
printf ${x:--v} 'a[$(touch PWNED)0]' y
printf "$(echo -v)" 'a[$(touch PWNED)0]' y
printf {-v,'a[$(touch PWNED)0]',y}
test {-v,'a[$(touch PWNED)0]'}
x=-v; test $x 'a[$(touch PWNED)0]'
x=-v; [ $x 'a[$(touch PWNED)0]' ]
[ ${x:--v} 'a[$(touch PWNED)0]' ]
test $(echo -v) 'a[$(touch PWNED)0]'
test "$(echo -v)" "$(cat expr.txt)"
for x in -v; do [ $x 'a[$(touch PWNED)0]' ]; done
[ -n x -a -v "$(cat expr.txt)" ]
[ -v "$(cat expr.txt)" ]
[[ -v $(cat expr.txt) ]]
cd odd; for f in *; do [ -v "$f" ]; done
cd odd; for f in *; do [[ -v $f ]]; done
cd odd; for f in *; do test -v "$f" && echo set; done
cd odd; ls | while read f; do [[ -v $f ]]; done
cd odd; for f in *; do echo ${!f}; done
cd odd; for f in *; do echo "${PWD:$f}"; done
cd odd; for f in *; do echo "${PWD:0:f}"; done
cd odd; for f in *; do echo ${a[f]}; done
cd odd; for f in *; do a[f]=1; done
cd odd; for f in *; do echo $[f]; done
cd odd; for f in *; do let f; done
cd odd; for f in *; do printf -v "$f" x; done
cd odd; for f in *; do read "$f" < /dev/null; done; for f in *; do read "$f" <<< x; done
cd odd; for f in *; do declare -i n=$f; done; for f in *; do declare -i "n=$f"; done
cd odd; for f in *; do unset "$f"; done; a=(1); for f in *; do unset "$f"; done
cd odd; for f in *; do wait -n -p "$f"; done; for f in *; do sleep 0 & wait -n -p "$f"; done
cd odd; for f in *; do [[ 1 -lt f ]]; done
cd odd; for f in *; do case $((f)) in *) ;; esac; done
cd odd; for f in *; do cat <<< $((f)); done
cd odd; for f in *; do echo "$((f+1))"; done
cd odd; f=(*); echo ${PWD:${f[0]}}
cd odd; echo * | { read f; echo $((f)); }
cd odd; while read f; do echo $((f)); done < <(ls)
OPTIND=$(ls odd)
RANDOM=$(ls odd)
x=$(ls odd); echo "$((x))"
x=$(ls odd); echo ${PWD:x}
((x=$(ls odd)))
(( $(ls odd) > 3 ))
[[ $(ls odd) -gt 3 ]]
n=$(ls odd | head -1); for ((i=0; i<n; i++)); do echo; done
x=$(ls odd); y=x; echo ${!y}; echo $((y))
declare -n r=$(ls odd); echo $r
read -r n < expr.txt; ((n++))
read n < expr.txt && echo $((n * 2))
set -- 'a[$(touch PWNED)0]'; echo $(($1))
set -- 'a[$(touch PWNED)0]'; echo ${@:$1}
set -- 'a[$(touch PWNED)0]'; [[ $1 -eq 0 ]]
set -- 'a[$(touch PWNED)0]'; echo ${!1}
for PATH in bin 0; do cat f.txt; done
for HOME in hostile; do cd; git x; done
for x in a; do PATH=bin; done; cat f.txt
for PATH in .; do cd bin; cat f.txt; done
set -- bin; for PATH; do cat f.txt; done
set -- bin; for PATH do cat f.txt; done
select PATH in bin; do cat f.txt; break; done <<< 1
while read PATH; do cat f.txt; done <<< bin
while read -r x PATH; do cat f.txt; done <<< 'x bin'
until ! read PATH; do cat f.txt; done <<< bin
case a in a) PATH=bin;; esac; cat f.txt
echo "${PATH:=x}" ; unset PATH; echo "${PATH:=bin}"; cat f.txt
cd bin; unset PATH; ls
cd bin; PATH=$nothing; ls
cd bin; PATH= ; ls
cd bin; PATH='' ls
cd bin; PATH=$(true); ls
cd bin; read PATH < /dev/null; ls
cd bin; for PATH in ''; do ls; done
cd bin; export PATH=; ls
cd bin; hash -r; PATH=::; ls
cd 0; PATH=. cat f.txt
a=(x y); for a in bin; do PATH=$a; done; cat f.txt
declare PATH; PATH=bin cat f.txt
echo hi; hash -d cat; hash -p bin/cat cat; cat f.txt
""",
    "find again": r"""
find . -name f.txt -exec uniq {} PWNED \;
find . -name f.txt -exec xxd {} PWNED \;
find . -name evil.awk -exec awk -f {} \;
find . -name evil.sed -exec sed -f {} f.txt \;
find . -name evil.sh -exec env {} \;
find . -name evil.sh -exec nice {} \;
find . -name evil.sh -exec timeout 5 {} \;
find . -name evil.sh -exec bash {} \;
find . -name evil.sh -exec stdbuf -oL {} \;
find . -name evil.sh -exec xargs -a /dev/null {} \;
find . -name evil.sh -exec time {} \;
find . -name evil.sh -exec nohup {} \;
find . -maxdepth 1 -name words -exec xargs -a {} env \;
find . -name f.txt -exec tee {} \; < g.txt
find . -name f.txt -exec sort -o {} g.txt \;
find . -name f.txt -exec sort g.txt -o {} \;
find . -name f.txt -exec sort g.txt -o{} \;
find . -name f.txt -exec git diff --output={} \;
find victim -exec find {} -delete \;
find . -name f.txt -exec git tag PWNED \; -quit
find . -name f.txt -exec cat {} \; -o -fprint PWNED
find . -name f.txt -exec cat {} + -fprint PWNED
find . -name f.txt -exec echo {} + -delete
find victim -exec echo ';' -delete
find victim -exec echo \; -delete
find victim -exec echo {} \; -delete
find victim -exec echo {} + -delete
find victim -exec echo + {} + -delete
find victim -printf '%p' -delete
find victim -regex '.*' -delete
find victim -newermt 2000-01-01 -delete
find -D exec victim -delete
find -P victim -delete
find -H -L -P victim -delete
find victim -fprintf /dev/stdout x -delete
find victim -name -delete -o -delete
find victim ! -name x -delete
find victim \( -delete \)
find victim '(' '!' -name x ')' -delete
find victim -perm -0 -delete
find victim -user nobody -delete
find victim -size -10k -delete
find victim -type f,d -delete
find victim -samefile victim -delete
find victim -xtype f -delete
find victim -depth -delete
find victim -maxdepth 3 -mindepth 0 -delete
find victim -mount -delete
find victim -noleaf -delete
find victim -regextype posix-extended -delete
find victim -warn -delete
find victim -ilname x -o -delete
find victim -true -delete
find victim -ls -delete
find victim -print0 -delete
find victim , -delete
find victim -not -name x -delete
""",
    "xargs again": r"""
echo --pre=./evil.sh | xargs rg hello f.txt
echo --output=PWNED | xargs git log
echo PWNED | xargs git tag
echo PWNED | xargs git branch
echo PWNED | xargs tee
echo 'f.txt PWNED' | xargs xxd
echo f.txt PWNED | xargs -n2 uniq
echo evil.awk | xargs awk -f
echo -f evil.awk | xargs awk
echo -f evil.sed f.txt | xargs sed
echo ./evil.sh | xargs timeout 5
echo ./evil.sh | xargs nice
echo ./evil.sh | xargs xargs -a /dev/null
echo ./evil.sh | xargs -I{} env {}
echo -delete | xargs -I{} find victim {}
echo delete | xargs -I{} find victim -{}
echo -delete | xargs find victim
echo PWNED | xargs -I{} sort -o {} f.txt
echo PWNED | xargs -I{} sort -o{} f.txt
echo o | xargs -I{} sort -{} PWNED f.txt
echo oPWNED | xargs -I{} sort -{} f.txt
echo w PWNED | xargs -I{} sed {} f.txt
echo w PWNED | xargs -d '\n' -I{} sed {} f.txt
echo w PWNED | xargs -I{} sed -n '{}' f.txt
echo tag PWNED | xargs git
echo tag | xargs -I{} git {} PWNED
echo 'BEGIN{system("touch PWNED")}' | xargs -d '\n' awk
echo touch PWNED | xargs -d '\n' sh -c
echo sub | xargs -I{} git -C {} tag PWNED
xargs -a names.txt -d '\n' sort
xargs -a names.txt -L 3 sort
xargs --process-slot-var=PATH -a f.txt cat
cat names.txt | xargs -P 2 -n 3 sort
""",
    "awk again": r"""
awk -W exec evil.awk
awk -Wexec evil.awk
awk -W e evil.awk
mawk -We evil.awk
awk -F: -W exec evil.awk
awk -v x=1 -f evil.awk
awk -vx=1 -fevil.awk f.txt
awk -F, -vx=1 -f evil.awk
awk 'BEGIN{printf "x" > "/dev/stdout"; print "y" > "PWNED"}'
awk 'BEGIN{print "x" > "/dev/stderr" "PWNED"}' || awk 'BEGIN{print "x">"PWNED"}'
awk 'BEGIN { print "a" ; print "b" > "PWNED" }'
awk '{ print $1, $2 > "PWNED" ; close("PWNED") }' f.txt
awk 'BEGIN { printf "%s", "a" >> "PWNED" }'
awk 'BEGIN{getline x < "f.txt"; print x > "PWNED"}'
awk 'BEGIN{print -1 " " > "PWNED"}'
awk 'BEGIN{print 1>2}'
awk 'BEGIN{print 1>2 ? 3 : 4}'
awk 'BEGIN{print (1)>2}'
awk '{print $1>$2}' f.txt
awk '{print$1>"PWNED"}' f.txt
awk 'BEGIN{print/x/>"PWNED"}'
awk 'BEGIN{if(1)print>"PWNED"}'
awk '{ if ($1 > 0) { print } } END { print NR > "PWNED" }' f.txt
awk 'BEGIN{x="A";print x>x}'
awk 'END{print>"PWNED"}' f.txt
awk 'BEGIN{cmd="touch PWNED";cmd|getline}'
awk 'BEGIN { x["a"] = "touch PWNED"; system(x["a"]) }'
awk 'function system2(x){system(x)}BEGIN{system2("touch PWNED")}'
awk 'BEGIN{print"touch PWNED"|"sh"}'
awk 'BEGIN{print "a||b" | "touch PWNED"}'
awk 'BEGIN{a=1||2; print "x" | "touch PWNED"}'
awk '/a|b/{print}/hello/{print|"touch PWNED"}' f.txt
awk '/[/]"/ {print "x" | "touch PWNED"} /"/' f.txt; awk '/x\/"/{} {print | "touch PWNED"} /"/{}' f.txt
awk 'BEGIN{n=4;a=8;x=a/n;print "y/" > "PWNED"}'
awk 'BEGIN{a=1;b=2;c=a/b;"touch PWNED"|getline;d=a/b}'
awk '{a[NR]=$0} END{x=a[1]/2; "touch PWNED" | getline; y=x/2}' f.txt
awk 'BEGIN{x=(1)/2; "touch PWNED" | getline; y=1/2}'
awk 'BEGIN{x=NR/2; "touch PWNED" | getline; y=1/2}'
awk '{x=$1/2; "touch PWNED" | getline; y=1/2}' f.txt
awk 'BEGIN{x=4;x /= 2; "touch PWNED" | getline; y=1/2}'
""",
    "sed again": r"""
sed -n '/[]/]/p;w PWNED' f.txt
sed 's/a[/]b/c/;w PWNED' f.txt
sed 's/[^/]*/x/;w PWNED' f.txt
sed 's/[]/]/x/;w PWNED' f.txt
sed 's/[[:space:]/]/x/;w PWNED' f.txt
sed 's/\[/x/;w PWNED' f.txt
sed 's/[\/]/x/;w PWNED' f.txt
sed 's/a/[/;w PWNED' f.txt
sed 's/x/[/w PWNED' f.txt
sed 's/hello/[/w PWNED' f.txt
sed '/[/]/!w PWNED' f.txt
sed '/[;]/d;w PWNED' f.txt
sed '\%a%d;w PWNED' f.txt
sed '\[a[d;w PWNED' f.txt
sed 's[hello[x[w PWNED' f.txt
sed 's;hello;x;w PWNED' f.txt
sed 's}hello}x}w PWNED' f.txt
sed 's#hello#x#w PWNED' f.txt
sed 's"hello"x"w PWNED' f.txt
sed 's&hello&x&w PWNED' f.txt
sed 'swhellowxww PWNED' f.txt; sed 's1hello1x1w PWNED' f.txt
sed 'sehelloextouch PWNEDee' f.txt; sed 's,.*,touch PWNED,e' f.txt
sed 'y/[/]/;w PWNED' f.txt
sed 'y/a\/b/x\/y/;w PWNED' f.txt
sed 'y;a;b;;w PWNED' f.txt
sed -n '1{p};w PWNED' f.txt
sed -n '1{p;};w PWNED' f.txt
sed -n '{{{p}}};w PWNED' f.txt
sed 'a\' -e 'w PWNED' f.txt
sed -e 'a x' -e 'w PWNED' f.txt
sed -e 'i\' -e 'x\' -e 'y' -e 'w PWNED' f.txt
sed '1~3d;0~4w PWNED' f.txt
sed '2,~4w PWNED' f.txt
sed '/hello/,+2w PWNED' f.txt
sed '/hello/,~2w PWNED' f.txt
sed '$!N;w PWNED' f.txt
sed 'N;P;D;w PWNED' f.txt; sed 'N;P;w PWNED' f.txt
sed ':a;N;$!ba;w PWNED' f.txt
sed ':a;$!{N;ba};w PWNED' f.txt
sed 'ba;w x;:a;w PWNED' f.txt
sed 'tx;Ty;:x;:y;w PWNED' f.txt
sed 'q;w PWNED' f.txt
sed 'Q5;w PWNED' f.txt
sed -n 'l;w PWNED' f.txt
sed 'v 4.2;w PWNED' f.txt
sed -n 'p;p;w PWNED' f.txt
sed 1!w\ PWNED f.txt
sed 1\!w\ PWNED f.txt
sed '1 ! w PWNED' f.txt
sed '1	w	PWNED' f.txt
sed 's/hello/x/ w PWNED' f.txt
sed 's/hello/x/gIw PWNED' f.txt
sed 's/hello/x/Mw PWNED' f.txt
sed 's/hello/x/mw PWNED' f.txt
sed 's/hello/x/2w PWNED' f.txt
sed 's/hello/touch PWNED/mpe' f.txt; sed 's/.*/touch PWNED/me' f.txt
sed '}' f.txt || sed 'w PWNED' f.txt
sed 'w /dev/stdoutPWNED' f.txt; sed 'wPWNED' f.txt
sed -n p f.txt -i
sed p -i f.txt
sed p f.txt --in-place
sed -ni p f.txt
sed -Ei p f.txt
sed -rni p f.txt
sed -n --in-pl p f.txt
sed --i p f.txt
sed -zi p f.txt
sed -sni p f.txt
sed -ui p f.txt
sed -i -- p f.txt
sed -n -i'' p f.txt
sed -"i" p f.txt
sed -b -i p f.txt
sed -l 5 -i p f.txt
sed -e p -i f.txt
sed -ep -i f.txt
sed --follow-symlinks -i p link
sed -E -i.bak 's/a/b/' f.txt
sed --expression=p -i f.txt
""",
    "arguments again": r"""
uniq [fg].txt
uniq ?.txt
uniq ./?.txt
uniq {f,g}.txt
uniq -c ?.txt
uniq -- ?.txt
xxd ?.txt
xxd [fg].txt
xxd ./[fg].txt
xxd -p ?.txt
xxd -- ?.txt
f='f.txt PWNED'; xxd $f
f='f.txt PWNED'; uniq $f
f='f.txt PWNED'; uniq -- $f
f='f.txt PWNED'; xxd -- $f
uniq $(echo f.txt PWNED)
uniq -- $(echo f.txt PWNED)
xxd $(echo f.txt PWNED)
xxd `echo f.txt PWNED`
for f in 'f.txt PWNED'; do uniq $f; done
for f in 'f.txt PWNED'; do xxd $f; done
while read -r f; do uniq $f; done <<< 'f.txt PWNED'
find . -name 'f.txt' -exec uniq {} {}x \;
find f.txt g.txt -exec uniq {} +
find f.txt g.txt -exec xxd {} +
echo f.txt PWNED | xargs uniq
echo f.txt PWNED | xargs xxd
ls f.txt g.txt | xargs uniq
ls f.txt g.txt | xargs -n2 xxd
x=-v; y='a[$(touch PWNED)0]'; [ "$x" "$y" ]
x=-v; y='a[$(touch PWNED)0]'; test "$x" "$y"
x=-v; y='a[$(touch PWNED)0]'; [ ! "$x" "$y" ]
x=-v; y='a[$(touch PWNED)0]'; [ a = a -a "$x" "$y" ]
x=-v; y='a[$(touch PWNED)0]'; [ "$x" "$y" -o a ]
x=-v; y='a[$(touch PWNED)0]'; [ \( "$x" "$y" \) ]
x=-v; y='a[$(touch PWNED)0]'; test ! ! "$x" "$y"
y='a[$(touch PWNED)0]'; [ -v "$y" ]
x='-v'; [ "$x" "$(cat expr.txt)" ]
x='x -o -v a[$(touch${IFS}PWNED)0]'; [ -n $x ]
x='x -o -v a[$(touch${IFS}PWNED)0]'; [ $x ]
x='x -o -v a[$(touch${IFS}PWNED)0]'; test -f $x
x='x -o -v a[$(touch${IFS}PWNED)0]'; [ -z $x ] && echo y
for x in -v; do for y in 'a[$(touch PWNED)0]'; do [ "$x" "$y" ]; done; done
while read -r x y; do [ "$x" "$y" ]; done <<< '-v a[$(touch${IFS}PWNED)0]'
x=-v; y='a[$(touch PWNED)0]'; printf "$x" "$y" z
x='-va[$(touch PWNED)0]'; printf "$x" y
x='-v a[$(touch${IFS}PWNED)0]'; printf $x y
for x in '-va[$(touch PWNED)0]'; do printf "$x" "y"; done
for x in '-va[$(touch PWNED)0]'; do printf "$x"; printf "$x" 1; done
read -r x <<< '-va[$(touch PWNED)0]'; printf "$x" y
printf "$(echo '-va[$(touch PWNED)0]')" y
x='5 touch PWNED'; timeout $x ls
x='touch PWNED'; timeout 5 $x
x='touch PWNED'; nice $x ls
x='touch PWNED'; env $x
x='b touch PWNED'; env A=$x ls
x='5 touch PWNED'; nice -n $x ls
x='L touch PWNED'; stdbuf -o $x ls
x='1 touch PWNED'; xargs -n $x echo < f.txt
x='1 touch PWNED'; xargs -n$x echo < f.txt
x='touch PWNED'; xargs $x < f.txt
x='X touch PWNED'; env -u $x ls
x='1 5 touch PWNED'; timeout -k $x ls
x='. tag PWNED'; git -C $x
x='tag PWNED'; git $x
x='1 --pre=./evil.sh'; rg -A $x hello f.txt
x='1 --pre=./evil.sh'; rg -A$x hello f.txt
x='--pre=./evil.sh'; rg $x hello f.txt
x='--pre=./evil.sh'; rg hello "$x" f.txt
x='--pre=./evil.sh'; rg "$x" -- hello f.txt
x='x --pre=./evil.sh'; rg -e $x hello f.txt
x='1 -o PWNED'; sort -k $x f.txt
x='1 -oPWNED'; sort -k$x f.txt
x=': -oPWNED'; sort -t $x f.txt
x='1 -delete'; find victim -maxdepth $x
x='x -o -delete'; find victim -name $x
x='-delete'; find victim "$x"
x='-delete'; find victim -name x -o "$x"
x='victim -delete'; find $x
x='victim'; find "$x" -delete
x='1p;w PWNED'; sed -n "$x" f.txt
x='a/w PWNED'; sed "s/hello/$x" f.txt
x='w PWNED'; sed -n $x f.txt; sed "$x" f.txt
x='s/a/b/;wPWNED'; sed -e $x f.txt
x=': BEGIN{system("touch${IFS}PWNED")}'; awk -F $x f.txt
x='x=1 -f evil.awk'; awk -v $x f.txt
x='-fevil.awk'; awk "$x" f.txt
x='BEGIN{system("touch PWNED")}'; awk "$x"
awk "{ print > \"$PWD/PWNED\" }" f.txt
x='" ; system("touch PWNED"); "'; awk "BEGIN{print \"$x\"}"
x='1 f.txt PWNED #'; uniq -f $x; x='1 f.txt PWNED'; uniq -f $x
x='1 f.txt PWNED'; xxd -l $x
x='1 -oPWNED'; shuf -n $x f.txt
x='1 -oPWNED'; shuf -n$x f.txt
shuf "$(echo -oPWNED)" f.txt
x=-oPWNED; shuf "$x" f.txt
x=-oPWNED; for f in "$x"; do shuf "$f"; done < f.txt
n='1 -oPWNED'; sort f.txt | shuf -n $n
cd opts && shuf * ; cd opts; shuf *
cd opts && shuf "$(ls | head -1)" < a.txt
cd opts && find . -name '*=*' -printf '%f\n' | xargs shuf a.txt
x='f.txt PWNED'; cp $x
x=PWNED; tee $x < f.txt
x=PWNED; tee "$x" < f.txt
for x in PWNED; do tee $x < f.txt; done
x=touch; command $x PWNED
x='touch PWNED'; command $x
x=-p; command $x touch PWNED
x='-v'; command $x touch; command touch PWNED
x='touch PWNED'; time $x
x='touch PWNED'; ! $x
x='touch PWNED'; $x &
x='touch PWNED'; $x | cat
x='touch PWNED'; if $x; then :; fi
x='touch PWNED'; { $x; }
x='touch PWNED'; ($x)
x='touch PWNED'; y=1 $x
x='touch PWNED'; >/dev/null $x
x='touch PWNED'; 2>/dev/null $x
x='touch PWNED'; [[ a ]] && $x
x='touch PWNED'; echo $($x)
x='touch PWNED'; cat <($x)
x='touch PWNED'; cat <<< $($x)
x='touch PWNED'; for y in $($x); do :; done
x='touch PWNED'; nohup $x
x='PWNED'; ls > "$x"
x='PWNED'; ls 2> $x nope
for x in PWNED; do ls > $x; done
for x in a b; do ls; done > PWNED
find . -name f.txt -exec sh -c 'cat "$1"; touch PWNED' _ {} \;
find . -name f.txt -exec bash -c 'touch PWNED' \;
find . -name f.txt -exec bash -c '$0 PWNED' touch \;
find . -name evil.sh -exec bash -c '$0' {} \;
find . -name evil.sh -exec sh -c '{}' \;
find . -name evil.sh -exec sh -c 'cat {}' \; -exec sh {} \;
find odd -type f -exec bash -c 'echo $((${0##*/}))' {} \;
find odd -type f -exec bash -c 'cat {}' \;
find odd -type f -exec sh -c 'echo {}' \;
find odd -type f -exec bash -c "ls {}" \;
ls odd | xargs -I{} bash -c 'echo {}'
ls odd | xargs -I{} sh -c 'echo "{}"'
ls odd | xargs -d '\n' -I{} sh -c 'cat odd/{}'
ls odd | xargs -d '\n' -I@ sh -c 'echo @'
ls odd | xargs -d '\n' -I echo bash -c 'echo echo'
cat words | xargs -I{} bash -c '{}'
cat words | xargs -d '\n' bash -c 'eval "$0"'
cat words | xargs -d '\n' -n1 bash -c 'echo "$0"; $0'
cat words | xargs bash -c 'echo "$@"; "$0" "$@"'
cat words | while read -r l; do bash -c "$l"; done
cat words | while read -r l; do $l; done
cat words | while read -r l; do eval "$l"; done
while read -r a b; do $a $b; done < words
bash -c 'for f in "$@"; do $f; done' _ ./evil.sh
bash -c 'x=$1; $x' _ ./evil.sh
bash -c 'echo $((x))' ; x='a[$(touch PWNED)0]' bash -c 'echo $((x))'
env x='a[$(touch PWNED)0]' bash -c 'echo $((x))'
env x='a[$(touch PWNED)0]' bash -c '[[ $x -gt 0 ]]'
bash -c 'echo $(($1))' _ 'a[$(touch PWNED)0]'
bash -c 'echo "${PWD:$0}"' 'a[$(touch PWNED)0]'
bash -c 'ls "$@" > PWNED'
bash -c 'ls' > PWNED
bash -c "ls > PWNED"
bash -c 'ls' 2>PWNED
bash -c ls\;touch\ PWNED
bash -c 'l''s; touch PWNED'
bash -c "echo '$(touch PWNED)'"
bash -c 'echo "'"'"'"; touch PWNED'
bash -c $'ls\ntouch PWNED'
bash -c $'ls \x3b touch PWNED'
sh -c 'echo $((a[$(touch PWNED)0]))' ; bash -c 'echo $((a[$(touch PWNED)0]))'
sh -c 'ls' -- ; sh -c 'touch PWNED' ls
""",
    "shells again": r"""
bash -c '{touch,PWNED}'
sh -c 'ls &>PWNED'
bash -c 'ls >& PWNED'
sh -c 'ls &>/dev/null; touch PWNED'
sh -c "echo \$'\\'; touch PWNED #'"
dash -c "echo \$'\\'; touch PWNED #'"
sh -c 'echo $'"'"'\'"'"'; touch PWNED #'"'"
sh -c '[[ a ]] || touch PWNED'
sh -c '[[ -f f.txt ]] || touch PWNED'
sh -c 'test a == a || touch PWNED'
sh -c 'echo {a,b} | grep -q { && touch PWNED'
sh -c 'ls >PWNED&'; wait
sh -c 'echo a &>PWNED'
sh -c 'time touch PWNED'
sh -c 'exec 3>PWNED'
sh -c 'read x y < words; $x $y'
sh -c 'cd bin; PATH=.; cat x'
timeout 5 sh -c 'touch PWNED'
nice sh -c 'ls; touch PWNED'
env -i sh -c '/usr/bin/touch PWNED'
xargs -a f.txt sh -c 'touch PWNED'
command sh -c 'touch PWNED'
time sh -c 'touch PWNED'
sh -c "echo \$'a\\'; touch PWNED; echo 'b'"
sh -c "cat f.txt; echo \$'\\' ; > PWNED #'"
sh -c 'echo a &>/dev/null' && sh -c 'echo x &> PWNED'
sh -c 'for PATH in bin; do cat f.txt; done'
sh -c 'echo ${PWD#$(touch PWNED)}'
sh -c 'echo ${x:-`touch PWNED`}'
sh -c 'echo "${x:-`touch PWNED`}"'
sh -c 'echo \\`touch PWNED\\`' ; sh -c 'echo `touch PWNED`'
sh -c "echo '\\'; touch PWNED; echo '\\'"
bash -O extglob -c 'echo !(x) ; touch PWNED'
bash +B -c 'touch PWNED'
bash -n -c 'x'; bash -c 'touch PWNED'
bash -r -c 'touch PWNED'
bash -p -c 'touch PWNED'
bash -x -c 'ls' ; PS4='$(touch PWNED)' bash -x -c ls
bash -v -c 'touch PWNED'
bash -k -c 'touch PWNED'
bash -o posix -c 'ls' ; bash -o posix -c 'touch PWNED'
bash -O expand_aliases -c $'alias ls="touch PWNED"\nls'
bash -ic 'touch PWNED'
bash -lc ls; bash -lc 'touch PWNED'
HOME=$PWD/x bash -lc ls; bash -c 'touch PWNED'
echo 'touch PWNED' > .bash_profile; bash -lc ls
find odd -type f -exec sh -c 'cat "{}"' \;
find odd -type f -execdir bash -c 'cat {}' \;
find odd -name 'a*' -exec bash -c 'echo $(({}))' \;
find odd -type f -exec bash -c 'x={}; echo $x' \;
find odd -type f -exec bash -c 'cat "$0"; echo $((${0#*/}))' {} \;
find odd -type f -exec timeout 5 bash -c 'cat {}' \;
find odd -type f -exec env bash -c 'cat {}' \;
find odd -type f -print0 | xargs -0 -I{} bash -c 'cat {}'
find evil.awk -exec awk -f{} \;
find evil.sed -exec sed -n -f{} f.txt \;
find . -name 'w*' -maxdepth 1 -exec sed -n 'w PWNED{}' f.txt \; -o -fprint PWNED
find f.txt -exec sed -n 's/x/{}/w PWNED' {} \;
find f.txt -exec sed 'w{}.PWNED' {} \;
find f.txt -exec awk '{print > "{}.PWNED"}' {} \;
find f.txt -exec rg --pre=./evil.sh hello {} \;
find evil.sh -exec rg --pre=./{} hello f.txt \;
find evil.sh -exec rg --pre ./{} hello f.txt \;
find . -path ./evil.sh -exec rg --pre {} hello f.txt \;
find f.txt -exec uniq {} {}.PWNED \;
find f.txt -exec xxd {} PWNED \;
find f.txt -exec tee {}.PWNED \;
find f.txt -exec git diff --output={}.PWNED \;
find f.txt -exec git diff -- {} \; -exec git tag PWNED \;
find f.txt -exec find victim -delete \;
find f.txt -exec timeout 5 touch PWNED \;
find f.txt -exec nice -n 5 touch PWNED \;
find f.txt -exec xargs -a words env \;
find f.txt -exec time touch PWNED \; -o -fprint PWNED
find f.txt -exec date -s {} \; -fprint PWNED
""",
    "another shell": r"""
sh -c 'ls &>/dev/null ./evil.sh'
sh -c 'cat f.txt &>/dev/null touch PWNED'
dash -c 'echo hi &>/dev/null touch PWNED'
sh -c 'ls &>/dev/null' ./evil.sh; sh -c 'ls &> /dev/null ./evil.sh'
sh -c '[[ a > PWNED ]]'
sh -c '[[ b < PWNED || a > PWNED ]]'
sh -c 'if [[ a > PWNED ]]; then echo; fi'
sh -c '((1>PWNED))'
sh -c '(( 1 > PWNED ))'
sh -c '((touch PWNED))'
sh -c 'if ((1 > PWNED)); then ls; fi'
sh -c 'x=1; ((x>PWNED))'
sh -c '[[ x || ./evil.sh ]]'
sh -c '[[ f.txt == *.txt || touch ]]'
sh -c '[[ -n a || ./evil.sh ]]'
sh -c '[[ a =~ a|./evil.sh ]]'
sh -c '[[ a =~ (./evil.sh) ]]'; sh -c '[[ a =~ a|./evil.sh ]]'
sh -c 'time -p ./evil.sh'
sh -c 'ls {x}>PWNED'
env sh -c 'ls &>/dev/null ./evil.sh'
timeout 5 sh -c '[[ x || ./evil.sh ]]'
/bin/sh -c '[[ x || ./evil.sh ]]'
sh -ec '[[ x || ./evil.sh ]]'; sh -c '[[ x || ./evil.sh ]]'
find f.txt -exec sh -c '[[ x || ./evil.sh ]]' \;
echo x | xargs sh -c '[[ x || ./evil.sh ]]'
sh -c 'echo "${x-'"'"'}"; touch PWNED #'"'"'}"'
sh -c 'echo "${x:-'"'"'}"; touch PWNED; echo "'"'"'}"'
sh -c 'echo $(( $(touch PWNED) 1 ))'
sh -c 'for i in 1 2; do echo $i; done; [[ x || ./evil.sh ]]'
sh -c '! [[ x ]] && ./evil.sh'
sh <<< '[[ x || ./evil.sh ]]'
bash -c 'sh -c "[[ x || ./evil.sh ]]"'
""",
}

MANY = {
    "sed again": (
        "sed '1{/x/!{w PWNED\n}}' f.txt",
        "sed -n '1,2{p;p}\nw PWNED' f.txt",
        "sed ':a\n$!{N;ba\n};w PWNED' f.txt",
        "sed 'v 4.2\nw PWNED' f.txt",
        "sed 'w /dev/stdout\nw PWNED' f.txt",
    ),
    "arguments again": (
        'bash -c "ls\ntouch PWNED"',
        "sh -c 'cat <<EOF\n$(touch PWNED)\nEOF'",
        "sh -c 'cat <<EOF\n`touch PWNED`\nEOF'",
    ),
    "shells again": (
        "sh -c \"cat <<'EOF'\nx\nEOF\ntouch PWNED\"",
        "sh -c 'cat <<-EOF\n\t$(touch PWNED)\n\tEOF'",
        "sh -c 'cat <<\"EOF\"\nx\nEOF\n`touch PWNED`'",
    ),
    "another shell": (
        "dash -c 'cat <<EOF\n${x-'\"'\"'}\nEOF\ntouch PWNED\n: '\"'\"'}\nEOF'",
        "sh -c 'alias ls=\"touch PWNED\"\nls'",
        "sh -c 'alias ls=./evil.sh\nls'",
        "sh -c 'echo a\\\n#; touch PWNED'",
        "sh << 'E'\n[[ x || ./evil.sh ]]\nE",
    ),
}
