"""A stand-in for Python on Windows, as a plugin of pytest (``-p tests.without_unix``), or to import
before netlab: modules of Unix cannot be imported, no process can be started but the line of an
engine elsewhere, and netlab sees of `os`, `signal`, `select`, `socket`, `sys` and `time` only what
Windows has (as typeshed says).

A test that needs an engine of this machine, or itself starts a process, is skipped.
"""

import builtins
import os
import re
import shlex
import subprocess
import sys
import types
from importlib.abc import MetaPathFinder
from pathlib import Path

import pytest

ABSENT = {"curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog"}
ABSENT |= {"termios", "tty", "_posixsubprocess"}
PART = {  # of a module: what Windows has of it, or, after a "!", what it lacks
    "os": r"""!(EFD|EX|F|GRND|MFD|O(?!_(APPEND|CREAT|EXCL|RDONLY|RDWR|TRUNC|WRONLY)$)|POSIX|PRIO
        |RTLD|RWF|SCHED|SPLICE|ST|W|XATTR|CLD|P_(ALL|PGID|PID|PIDFD)$)(?<!F_OK)(?<!W_OK)_\w+
        |W(COREDUMP|EXITED|EXITSTATUS|IFCONTINUED|IFEXITED|IFSIGNALED|IFSTOPPED|NOHANG|STOPSIG)
        |WTERMSIG|ch(own|root)|confstr|copy_file_range|ctermid|environb|eventfd\w*|f(ch(dir|mod|own)
        |datasync|ork|orkpty|pathconf|statvfs|walk)|get(_blocking|e[gu]id|envb|[gu]id|groups|loadavg
        |grouplist|pgid|pgrp|priority|random|res[gu]id|sid|xattr)|initgroups|killpg|lchown|listxattr
        |lockf|login_tty|major|makedev|memfd_create|minor|mk(fifo|nod)|nice|openpty|pathconf
        |pidfd_open|pipe2|posix_\w+|p(read|write)v?|readv|register_at_fork|removexattr|sched_\w+
        |sendfile|set(_blocking|e?[gu]id|groups|pgid|pgrp|priority|re[gu]id|res[gu]id|sid|xattr)
        |spawnl?v?pe?|splice|statvfs|sync|sysconf|tc[gs]etpgrp|ttyname|uname|wait[34]?|waitid|writev
        """,
    "signal": r"""SIG(ABRT|FPE|ILL|INT|SEGV|TERM|_DFL|_IGN)|NSIG|Signals|Handlers|signal|getsignal
        |default_int_handler|raise_signal|set_wakeup_fd|strsignal|valid_signals""",
    "select": "select|error",
    "socket": r"!AF_UNIX|TCP_(CONGESTION|INFO|CORK)|SO_(REUSEPORT|PEERCRED)|MSG_\w+|\w+_fds",
    "sys": "!platform",
    "time": r"!(CLOCK|clock)_\w+|pthread_getcpuclockid|tzset",
}
NETLAB = str(Path(__file__).parents[1] / "netlab")
CANNOT = "which this Python cannot do"
NO_ENGINE = "the engine needs Linux on x86-64", "a live network cannot be recorded"


class Windows(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r} on Windows", name=name)


class Part(types.ModuleType):
    """A module as netlab sees it."""

    def __init__(self, whole):
        super().__init__(whole.__name__)
        told = PART[whole.__name__]
        vars(self).update(_whole=whole, _without=told[0] == "!")
        vars(self).update(_named=re.compile(told.lstrip("!"), re.X))

    def __getattr__(self, name):
        if name in ("platform", "name"):  # of `sys`, of `os`
            return "win32" if name == "platform" else "nt"
        if bool(self._named.fullmatch(name)) == self._without and not name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} on Windows")
        return getattr(self._whole, name)


class Refused:
    """No process can be started but an engine elsewhere, by a text as on Windows; and no named pipe
    made.
    """

    def __new__(cls, *what, **options):
        if isinstance(what[0], str) and what[0].endswith(" engine serve"):
            return plain_popen(shlex.split(what[0]), **options)
        raise OSError(f"{what} is a process or a pipe, {CANNOT}")


parts = {name: Part(__import__(name)) for name in PART}
plain_import, plain_popen = builtins.__import__, subprocess.Popen


def windows_import(name, globals=None, locals=None, fromlist=(), level=0):
    importer = (globals or {}).get("__name__", "")
    if importer.partition(".")[0] == "netlab" and not level:
        if name in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r} on Windows", name=name)
        if name in parts:
            return parts[name]
    return plain_import(name, globals, locals, fromlist, level)


sys.meta_path.insert(0, Windows())
builtins.__import__ = windows_import
subprocess.Popen = os.mkfifo = os.fork = Refused


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Skip what needs an engine of this machine, and what starts a process outside netlab."""
    if call.excinfo:
        said = str(call.excinfo.value)
        files = [str(entry.path) for entry in call.excinfo.traceback][-4:]
        started = CANNOT in said and not any(file.startswith(NETLAB) for file in files)
        if started or any(text in said for text in NO_ENGINE):
            call.excinfo = pytest.ExceptionInfo.from_exc_info(skipped(said))
    return (yield)


def skipped(why):
    try:
        pytest.skip(why[:100])
    except pytest.skip.Exception as skip:
        return type(skip), skip, skip.__traceback__
