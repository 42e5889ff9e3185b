"""Walls around a guest: what code in its kernel process can reach of this machine.

Run as a program, this file puts the walls around itself and becomes the guest's kernel. It needs
Python alone. Walls are independent: "files" is landlock(7), "namespaces" namespaces(7), "calls"
seccomp(2), "user" a user id of its own, where root starts it (see docs/engine.md).
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import resource
import signal
import struct
import sys

NAMES = ("files", "namespaces", "calls", "user")
OWN_USERS = range(61_184, 65_520)  # that systemd's UIDs-GIDs page gives to nobody else

libc = ctypes.CDLL(None, use_errno=True)

PR_SET_PDEATHSIG, PR_SET_SECUREBITS, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 28, 36, 38
NOROOT_LOCKED = 0b11
NR_SECCOMP, NR_EXECVEAT, NR_PIVOT_ROOT = 317, 322, 155
NR_CREATE_RULESET, NR_ADD_RULE, NR_RESTRICT_SELF = 444, 445, 446
AT_EMPTY_PATH = 0x1000
ADDR_NO_RANDOMIZE = 0x0040000
MFD_EXEC = 0x10
STUB_BYTES = 1 << 16  # of the program that the kernel starts for each of its own

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x0002_0000, 0x0400_0000, 0x0800_0000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x1000_0000, 0x2000_0000, 0x4000_0000
NEW_NAMESPACES = 0x7E02_0000  # all of them
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND = 1, 2, 4, 32, 4096
MS_REC, MS_PRIVATE = 16_384, 1 << 18
MNT_DETACH = 2


def call(function, *arguments):
    """Call a C function that returns -1 where it fails."""
    result = function(*arguments)
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{getattr(function, '__name__', function)}: {os.strerror(number)}")
    return result


def system_call(number, *arguments):
    return call(libc.syscall, ctypes.c_long(number), *arguments)


EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
ALL_OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
FIRST_RIGHTS = (1 << 13) - 1  # of version 1


def landlock_version():
    """Of this machine's kernel; 0 where there is none."""
    with contextlib.suppress(OSError):
        return system_call(NR_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(1))
    return 0


def confine_files(readable, writable):
    """Landlock: these files and folders, and no other; no signals, no connections."""
    version = landlock_version()
    if not version:
        raise OSError(errno.ENOSYS, "landlock: not in this kernel")
    rights = FIRST_RIGHTS
    for since, right in ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)):
        rights |= right if version >= since else 0
    # bind and connect of TCP from version 4 on, abstract sockets and signals from 6 on
    rules = struct.pack("QQQ", rights, 3, 3)[: 8 if version < 4 else 16 if version < 6 else 24]
    ruleset = system_call(NR_CREATE_RULESET, rules, ctypes.c_size_t(len(rules)), ctypes.c_uint(0))
    read = EXECUTE | READ_FILE | READ_DIR
    for paths, allowed in ((readable, read), (writable, rights & ~IOCTL_DEV & ~REFER)):
        for path in paths:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            of_its_kind = allowed if os.path.isdir(path) else ALL_OF_A_FILE | (rights & TRUNCATE)
            rule = struct.pack("=Qi", allowed & of_its_kind, place)
            arguments = ctypes.c_int(ruleset), ctypes.c_int(1), rule, ctypes.c_uint(0)
            system_call(NR_ADD_RULE, *arguments)
            os.close(place)
    call(libc.prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    system_call(NR_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint(0))
    os.close(ruleset)


def unshare():
    """Namespaces of its own; who is not root gets the right to that by a user namespace."""
    own, group = os.getuid(), os.getgid()
    flags = CLONE_NEWUSER if own else 0
    flags |= CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWUTS
    call(libc.unshare, ctypes.c_int(flags))
    maps = {"setgroups": "deny", "uid_map": f"{own} {own} 1", "gid_map": f"{group} {group} 1"}
    for name, text in maps.items() if flags & CLONE_NEWUSER else ():
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def mount(source, target, kind, flags, data=None):
    encoded = [None if one is None else os.fsencode(one) for one in (source, target, kind, data)]
    call(libc.mount, *encoded[:3], ctypes.c_ulong(flags), encoded[3])


def own_root(folder, readable, writable):
    """A root folder with these files and folders in it, under their own names."""
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    mount("netlab", folder, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    for path in [*readable, *writable]:
        target = folder + path
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.isdir(path):
            os.makedirs(target, exist_ok=True)
        else:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
        mount(path, target, None, MS_BIND)
        if path in readable and os.path.isdir(path):
            flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID
            # flags that the owner of the mount has set must stay
            mount(None, target, None, flags | mount_flags(os.statvfs(target).f_flag))
    mount(None, folder, None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)
    os.chdir(folder)
    system_call(NR_PIVOT_ROOT, b".", b".")
    call(libc.umount2, b".", ctypes.c_int(MNT_DETACH))


def mount_flags(shown):
    """What mount(2) calls the flags that statvfs(3) shows."""
    # nosuid, nodev, noexec, noatime and nodiratime are the same in both; relatime
    return shown & (2 | 4 | 8 | 1024 | 2048) | (1 << 21 if shown & 4096 else 0)


def become(user):
    """A user id of its own, without a way back."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def give_up_rights():
    """No capability survives the start of the next program."""
    with contextlib.suppress(OSError):  # who has none may not set this
        call(libc.prctl, PR_SET_SECUREBITS, NOROOT_LOCKED, 0, 0, 0)
    call(libc.prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


# With their numbers on x86-64.
CALLS = """
read:0 write:1 close:3 fstat:5 lstat:6 poll:7 lseek:8 mprotect:10 munmap:11 brk:12
rt_sigaction:13 rt_sigprocmask:14 rt_sigreturn:15 pread64:17 pwrite64:18 readv:19 writev:20
access:21 sched_yield:24 madvise:28 dup:32 dup2:33 nanosleep:35 getitimer:36 setitimer:38
getpid:39 recvfrom:45 sendmsg:46 recvmsg:47 exit:60 wait4:61 uname:63 getcwd:79
mkdir:83 readlink:89 sysinfo:99 getuid:102 getgid:104 geteuid:107 getegid:108 sigaltstack:131
statfs:137 fstatfs:138 arch_prctl:158 gettid:186 time:201 futex:202 epoll_create:213
getdents64:217 set_tid_address:218 restart_syscall:219 timer_create:222 timer_settime:223
timer_gettime:224 timer_getoverrun:225 timer_delete:226 clock_gettime:228 clock_getres:229
clock_nanosleep:230 exit_group:231 epoll_wait:232 epoll_ctl:233 openat:257 newfstatat:262
readlinkat:267 ppoll:271 set_robust_list:273 signalfd4:289 epoll_create1:291
pipe2:293 seccomp:317 getrandom:318 rseq:334 close_range:436
"""
NUMBERS = [int(call.partition(":")[2]) for call in CALLS.split()]
NR_FUTEX = 202  # by far the most frequent
ANYTHING = 0xFFFFFFFF
OWN_PROCESS = None  # its number, once it has one
# Calls by number, with alternatives: lists of conditions. Each names an argument (and a half: the
# upper 32 bits of it), bits of it, and what they may be.
ARGUMENTS = {
    9: [[(3, 0x21, (0, 1, 0x20))]],  # mmap: not anonymous and shared, which nobody could count
    16: [[(1, ANYTHING, (0x5401, 0x5413, 0x541B))]],  # ioctl: TCGETS, TIOCGWINSZ, FIONREAD
    44: [[(4, ANYTHING, (0,)), (5, ANYTHING, (0,))]],  # sendto: no address
    53: [[(0, ANYTHING, (1,)), (1, 0xF, (1, 5))]],  # socketpair: Unix, streams and packets
    56: [[(0, NEW_NAMESPACES, (0,))]],  # clone
    62: [[(0, 0x80000000, (0,)), (1, ANYTHING, (9, 14))]],  # kill: no groups; KILL, ALRM
    72: [
        [(1, ANYTHING, (1, 2, 3, 4, 1030, 1033, 1034))],  # fcntl: flags, seals
        [(1, ANYTHING, (10,)), (2, ANYTHING, (signal.SIGIO,))],  # F_SETSIG
        [(1, ANYTHING, (8,)), (2, ANYTHING, (OWN_PROCESS,))],  # F_SETOWN
    ],
    135: [[(0, ANYTHING, (0, ADDR_NO_RANDOMIZE, ANYTHING))]],  # personality
    157: [[(0, ANYTHING, (1, 15, 16, 22, 35, 38))]],  # prctl
    302: [[(0, ANYTHING, (0,))]],  # prlimit64: of this process
    NR_EXECVEAT: [[(4, ANYTHING, (AT_EMPTY_PATH,))]],  # what is open, not a name
}
LOAD, EQUAL, AND, JUMP, RETURN = 0x20, 0x15, 0x54, 0x05, 0x06
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
X86_64 = 0xC000003E


def allowed_calls():
    """The program of the filter; bpf(4), seccomp(2)."""
    lines = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, X86_64), (RETURN, 0, 0, KILL), (LOAD, 0, 0, 0)]
    for number in sorted(NUMBERS, key=lambda number: number != NR_FUTEX):
        lines += [(EQUAL, 0, 1, number), (RETURN, 0, 0, ALLOW)]
    for number, alternatives in ARGUMENTS.items():
        block = [(RETURN, 0, 0, REFUSE)]
        for conditions in reversed(alternatives):
            block = [*tests(conditions), *block]
        lines += [(EQUAL, 0, len(block), number), *block]
    return [*lines, (RETURN, 0, 0, REFUSE)]


def tests(conditions):
    """Lines that allow a call under these conditions, and else fall through.

    They test the lower 32 bits of arguments: only sendto's address is wider, and its length is 0.
    """
    lines = [(RETURN, 0, 0, ALLOW)]
    for at, bits, values in reversed(conditions):
        values = [os.getpid() if value is OWN_PROCESS else value for value in values]
        equal = [(EQUAL, len(values) - index, 0, value) for index, value in enumerate(values)]
        load = [(LOAD, 0, 0, int(16 + 8 * at)), (AND, 0, 0, bits)]
        lines = [*load, *equal, (JUMP, 0, 0, len(lines)), *lines]
    return lines


def confine_calls(lines):
    """seccomp: what this filter allows."""
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    header = ctypes.create_string_buffer(struct.pack("HP", len(lines), ctypes.addressof(program)))
    call(libc.prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    system_call(NR_SECCOMP, ctypes.c_uint(1), ctypes.c_uint(0), header)


def memory_file(name, size):
    """A file in memory that keeps its size, and from which programs may run; -> descriptor.

    The kernel gets its memory so, as it may make no such file: nobody could count them.
    """
    try:
        made = os.memfd_create(name, os.MFD_ALLOW_SEALING | MFD_EXEC)
    except OSError:  # before Linux 6.3
        made = os.memfd_create(name, os.MFD_ALLOW_SEALING)
    os.ftruncate(made, size)
    fcntl.fcntl(made, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
    return made


def limit(what, most):
    """Lower a limit for this process, where it is higher, and leave no way back."""
    soft, hard = (
        most if one == resource.RLIM_INFINITY else one for one in resource.getrlimit(what)
    )
    resource.setrlimit(what, (min(soft, most), min(soft, hard, most)))


def start(
    command, environment, readable, writable, walls, root, user, fixed_layout, cpu, memory_bytes,
    largest_file, most_processes,
):  # fmt: skip
    """Put up these walls (of `NAMES`) and become a program, which sees these files and folders.

    `root` is an empty folder; `user` the id for the wall "user"; `fixed_layout` switches address
    randomisation off; `largest_file` [byte]. An OSError where a wall cannot be put up.
    """
    environment |= {
        "NETLAB_MEMORY_FD": str(memory_file("netlab-memory", memory_bytes)),
        "NETLAB_STUB_FD": str(memory_file("netlab-stub", STUB_BYTES)),
    }
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    if fixed_layout:
        call(libc.personality, ctypes.c_ulong(ADDR_NO_RANDOMIZE))
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_FSIZE, largest_file)
    limit(resource.RLIMIT_NOFILE, most_processes)  # the kernel has one for each process
    # so that orphans become children of this process, where the watcher finds them
    call(libc.prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.umask(0o022)  # the folders of its root are for its own user, too
    if "namespaces" in walls:
        unshare()
        if child := os.fork():
            wait_for(child)
        call(libc.prctl, PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        own_root(root, readable, writable)
        # counted by user, in a user namespace (Linux 5.14) without those outside
        if "user" in walls or (os.getuid() and counts_by_namespace()):
            limit(resource.RLIMIT_NPROC, most_processes)
        if "user" in walls:
            become(user)
            call(libc.prctl, PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    give_up_rights()
    program = os.open(command[0], os.O_RDONLY | os.O_CLOEXEC)
    if "files" in walls:
        confine_files(readable, writable)
    if "calls" in walls:
        confine_calls(allowed_calls())
    variables = texts([f"{name}={value}" for name, value in environment.items()])
    flags = ctypes.c_int(AT_EMPTY_PATH)
    system_call(NR_EXECVEAT, ctypes.c_int(program), b"", texts(command), variables, flags)


def counts_by_namespace():
    """Since Linux 5.14 the processes of a user are counted in each user namespace."""
    major, minor = os.uname().release.split(".")[:2]
    return (int(major), int("".join(filter(str.isdigit, minor)))) >= (5, 14)


def texts(strings):
    """As C has them."""
    return (ctypes.c_char_p * (len(strings) + 1))(*map(os.fsencode, strings), None)


def wait_for(child):
    """Wait in front of the new process namespace, and end as its first process ends."""
    os.closerange(3, 1 << 16)
    os.close(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        signal.signal(-status, signal.SIG_DFL) if -status not in (9, 19) else None
        os.kill(os.getpid(), -status)
    os._exit(status)


def attempt(name, folder):
    """Put up one wall around this process, which is of no further use."""
    if name == "files":
        confine_files([folder], [])
    elif name == "namespaces":
        unshare()
        if child := os.fork():
            wait_for(child)
        own_root(folder, ["/proc/cpuinfo"], ["/dev/null"])
    elif name == "calls":
        confine_calls(allowed_calls())
    else:
        become(OWN_USERS[0])


def tried(folder):
    """Which walls can be put up here: by name, "" or what stands in the way."""
    found = {}
    for name in NAMES:
        reader, writer = os.pipe()
        if (child := os.fork()) == 0:
            try:
                attempt(name, folder)
            except OSError as error:
                os.write(writer, str(error).encode())
            finally:
                os._exit(0)
        os.close(writer)
        with open(reader, encoding="utf-8") as said:
            found[name] = said.read()
        os.waitpid(child, 0)
    if found["namespaces"]:  # the engine may lie where that user may not go
        found["user"] = found["user"] or "needs namespaces"
    return found


if __name__ == "__main__":
    if sys.argv[1] == "--try":
        print(json.dumps(tried(sys.argv[2])))
        sys.exit()
    try:
        start(**json.loads(sys.argv[1]))
    except OSError as error:
        sys.exit(f"netlab: no guest can be started behind its walls: {error}")
