"""Every Linux system call up to 6.19, and whether a read-only command may use it.

Each entry is `name:number on x86_64:number on aarch64`, "-" where the architecture does not have the call. Calls that
are newer than this table fail as on a kernel without them.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:  # the supervisor imports this module with every command
    from collections.abc import Iterator

ALLOWED = """
# open files and memory
read:0:63 write:1:64 close:3:57 lseek:8:62 pread64:17:67 pwrite64:18:68 readv:19:65 writev:20:66 preadv:295:69
pwritev:296:70 preadv2:327:286 pwritev2:328:287 sendfile:40:71 splice:275:76 tee:276:77 vmsplice:278:75
copy_file_range:326:285 readahead:187:213 fadvise64:221:223 sync_file_range:277:84 fsync:74:82 fdatasync:75:83
fallocate:285:47 ftruncate:77:46 dup:32:23 dup2:33:- dup3:292:24 pipe:22:- pipe2:293:59 close_range:436:436 mmap:9:222
mprotect:10:226 munmap:11:215 brk:12:214 mremap:25:216 msync:26:227 mincore:27:232 madvise:28:233 mlock:149:228
munlock:150:229 mlockall:151:230 munlockall:152:231 mlock2:325:284 remap_file_pages:216:234 memfd_create:319:279
mseal:462:462 map_shadow_stack:453:453 mbind:237:235 set_mempolicy:238:237 get_mempolicy:239:236
set_mempolicy_home_node:450:450 pkey_mprotect:329:288 pkey_alloc:330:289 pkey_free:331:290 cachestat:451:451
# status of files: Landlock decides which files may be opened
stat:4:- fstat:5:80 lstat:6:- newfstatat:262:79 statx:332:291 access:21:- faccessat:269:48 faccessat2:439:439
readlink:89:- readlinkat:267:78 getdents:78:- getdents64:217:61 getcwd:79:17 chdir:80:49 fchdir:81:50 statfs:137:43
fstatfs:138:44 umask:95:166 getxattr:191:8 lgetxattr:192:9 fgetxattr:193:10 listxattr:194:11 llistxattr:195:12
flistxattr:196:13 getxattrat:464:464 listxattrat:465:465 file_getattr:468:468
# waiting
poll:7:- ppoll:271:73 select:23:- pselect6:270:72 epoll_create:213:- epoll_create1:291:20 epoll_ctl:233:21
epoll_wait:232:- epoll_pwait:281:22 epoll_pwait2:441:441 eventfd:284:- eventfd2:290:19 signalfd:282:- signalfd4:289:74
timerfd_create:283:85 timerfd_settime:286:86 timerfd_gettime:287:87 pause:34:- nanosleep:35:101
clock_nanosleep:230:115 sched_yield:24:124 futex_waitv:449:449 futex_wake:454:454 futex_wait:455:455
restart_syscall:219:128
# signals and timers of the process itself
rt_sigaction:13:134 rt_sigprocmask:14:135 rt_sigreturn:15:139 rt_sigpending:127:136 rt_sigtimedwait:128:137
rt_sigsuspend:130:133 sigaltstack:131:132 alarm:37:- getitimer:36:102 setitimer:38:103 timer_create:222:107
timer_settime:223:110 timer_gettime:224:108 timer_getoverrun:225:109 timer_delete:226:111 time:201:- times:100:153
gettimeofday:96:169 clock_gettime:228:113 clock_getres:229:114
# processes and threads of the command
fork:57:- vfork:58:- execve:59:221 execveat:322:281 exit:60:93 exit_group:231:94 wait4:61:260 waitid:247:95
pidfd_open:434:434 set_tid_address:218:96 set_robust_list:273:99 rseq:334:293 membarrier:324:283 getpid:39:172
getppid:110:173 gettid:186:178 setpgid:109:154 getpgid:121:155 getpgrp:111:- setsid:112:157 getsid:124:156
arch_prctl:158:- prctl:157:167 personality:135:92 seccomp:317:277 landlock_create_ruleset:444:444
landlock_add_rule:445:445 landlock_restrict_self:446:446
# users and limits of the command: no privilege is left to gain rights by them
getuid:102:174 geteuid:107:175 getgid:104:176 getegid:108:177 getresuid:118:148 getresgid:120:150 getgroups:115:158
setuid:105:146 setgid:106:144 setreuid:113:145 setregid:114:143 setresuid:117:147 setresgid:119:149 setgroups:116:159
setfsuid:122:151 setfsgid:123:152 capget:125:90 capset:126:91 getrlimit:97:163 getrusage:98:165
getpriority:140:141 ioprio_get:252:31 sched_getparam:143:121 sched_getscheduler:145:120 sched_getattr:315:275
sched_getaffinity:204:123 sched_get_priority_max:146:125 sched_get_priority_min:147:126 sched_rr_get_interval:148:127
# the machine
uname:63:160 sysinfo:99:179 getcpu:309:168 getrandom:318:278
# sockets made by socketpair
sendmsg:46:211 sendmmsg:307:269 recvfrom:45:207 recvmsg:47:212 recvmmsg:299:243 shutdown:48:210 getsockname:51:204
getpeername:52:205 getsockopt:55:209 setsockopt:54:208
"""

# Allowed with some arguments; `seccomp` knows which.
CONDITIONAL = """
open:2:- openat:257:56 ioctl:16:29 fcntl:72:25 clone:56:220 socketpair:53:199 sendto:44:206 prlimit64:302:261
setrlimit:160:164 futex:202:98
"""

# Sends a signal: allowed where Landlock confines signals (ABI 6); elsewhere the supervisor decides.
SIGNALS = """
kill:62:129 tkill:200:130 tgkill:234:131 rt_sigqueueinfo:129:138 rt_tgsigqueueinfo:297:240
"""

# Fails with "Operation not permitted".
REFUSED = """
# changes of files
creat:85:- truncate:76:45 rename:82:- renameat:264:38 renameat2:316:276 link:86:- linkat:265:37 symlink:88:-
symlinkat:266:36 mkdir:83:- mkdirat:258:34 rmdir:84:- unlink:87:- unlinkat:263:35 mknod:133:- mknodat:259:33
chmod:90:- fchmod:91:52 fchmodat:268:53 fchmodat2:452:452 chown:92:- fchown:93:55 lchown:94:- fchownat:260:54
utime:132:- utimes:235:- futimesat:261:- utimensat:280:88 setxattr:188:5 lsetxattr:189:6 fsetxattr:190:7
setxattrat:463:463 removexattr:197:14 lremovexattr:198:15 fremovexattr:199:16 removexattrat:466:466
file_setattr:469:469 sync:162:81 syncfs:306:267
# connections
socket:41:198 connect:42:203 bind:49:200 listen:50:201 accept:43:202 accept4:288:242
# IPC by number or name: it outlives the command
shmget:29:194 shmat:30:196 shmdt:67:197 shmctl:31:195 semget:64:190 semop:65:193 semtimedop:220:192 semctl:66:191
msgget:68:186 msgsnd:69:189 msgrcv:70:188 msgctl:71:187 mq_open:240:180 mq_unlink:241:181 mq_timedsend:242:182
mq_timedreceive:243:183 mq_notify:244:184 mq_getsetattr:245:185 add_key:248:217 request_key:249:218 keyctl:250:219
# other processes
ptrace:101:117 process_vm_readv:310:270 process_vm_writev:311:271 process_madvise:440:440 process_mrelease:448:448
kcmp:312:272 get_robust_list:274:100 pidfd_getfd:438:438 migrate_pages:256:238 move_pages:279:239 setpriority:141:140
ioprio_set:251:30 sched_setparam:142:118 sched_setscheduler:144:119 sched_setattr:314:274 sched_setaffinity:203:122
# namespaces, mounts and the machine
unshare:272:97 setns:308:268 chroot:161:51 pivot_root:155:41 mount:165:40 umount2:166:39 mount_setattr:442:442
swapon:167:224 swapoff:168:225 quotactl:179:60 quotactl_fd:443:443 acct:163:89 reboot:169:142 kexec_load:246:104
kexec_file_load:320:294 init_module:175:105 finit_module:313:273 delete_module:176:106 sethostname:170:161
setdomainname:171:162 settimeofday:164:170 clock_settime:227:112 adjtimex:159:171 clock_adjtime:305:266 syslog:103:116
vhangup:153:58 iopl:172:- ioperm:173:- open_by_handle_at:304:265 bpf:321:280 perf_event_open:298:241
"""

# Fails as on a kernel without the call, so that programs fall back on another call.
ABSENT = """
# arguments in memory, which a filter cannot read: libraries fall back on the older call
openat2:437:437 clone3:435:435 io_uring_setup:425:425 io_uring_enter:426:426 io_uring_register:427:427 io_setup:206:0
io_destroy:207:1 io_submit:209:2 io_cancel:210:3 io_getevents:208:4 io_pgetevents:333:292 futex_requeue:456:456
# locks and watches reach processes outside, also on files that can only be read
flock:73:32 inotify_init:253:- inotify_init1:294:26 inotify_add_watch:254:27 inotify_rm_watch:255:28
fanotify_init:300:262 fanotify_mark:301:263 pidfd_send_signal:424:424
# not needed by reading programs
name_to_handle_at:303:264 open_tree:428:428 open_tree_attr:467:467 move_mount:429:429 fsopen:430:430 fsconfig:431:431
fsmount:432:432 fspick:433:433 statmount:457:457 listmount:458:458 listns:470:470 userfaultfd:323:282
memfd_secret:447:447 lsm_get_self_attr:459:459 lsm_set_self_attr:460:460 lsm_list_modules:461:461
lookup_dcookie:212:18 modify_ldt:154:- set_thread_area:205:- get_thread_area:211:- uselib:134:- ustat:136:-
sysfs:139:- nfsservctl:180:42
# numbers without a function
_sysctl:156:- afs_syscall:183:- create_module:174:- epoll_ctl_old:214:- epoll_wait_old:215:- get_kernel_syms:177:-
getpmsg:181:- putpmsg:182:- query_module:178:- security:185:- tuxcall:184:- vserver:236:-
"""


_COLUMNS = {"x86_64": 1, "aarch64": 2}


def has_table(machine: str) -> bool:
    return machine in _COLUMNS


def numbers(machine: str, table: str) -> dict[str, int]:
    """The numbers of the calls in one of the tables above, by name."""
    return dict(_entries(table, _COLUMNS[machine]))


def _entries(table: str, column: int) -> "Iterator[tuple[str, int]]":
    for line in table.splitlines():
        for entry in line.split() if not line.startswith("#") else ():
            parts = entry.split(":")
            if parts[column] != "-":
                yield parts[0], int(parts[column])
