/*
 * A program in the place of a guest's kernel: it tries what code in that process could try, and
 * prints a line for each: what it tried, and "worked" or the error.
 *
 *     probe SECRET PROCESS SOCKET ABSTRACT PORT [filtered]
 *
 * SECRET is a file of somebody else's, PROCESS the number of another process, SOCKET and ABSTRACT
 * the names of datagram sockets that somebody listens on, PORT one of UDP on 127.0.0.1. "filtered":
 * it first puts up the filter that a guest's kernel puts up at the end of its start (filter.h).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "filter.h"

static void told(const char *what, long result)
{
	printf("%s: %s\n", what, result < 0 ? strerror(errno) : "worked");
	fflush(stdout);
}

static long to_socket(const char *name, int abstract)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	strncpy(to.sun_path + abstract, name, sizeof(to.sun_path) - 2);
	if (fd < 0)
		return -1;
	return sendto(fd, "probe", 5, 0, (void *)&to,
		      offsetof(struct sockaddr_un, sun_path) + abstract + strlen(name));
}

static long to_port(int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
	return fd < 0 ? -1 : sendto(fd, "probe", 5, 0, (void *)&to, sizeof(to));
}

/* By a pair of datagram sockets, which may send to any name. */
static long by_a_pair(const char *name)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int pair[2];

	strncpy(to.sun_path, name, sizeof(to.sun_path) - 2);
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		return -1;
	return sendto(pair[0], "probe", 5, 0, (void *)&to,
		      offsetof(struct sockaddr_un, sun_path) + strlen(name));
}

enum way { BY_NAME, BY_DESCRIPTOR, BY_NAME_OR_DESCRIPTOR };

static long program(const char *path, enum way way)
{
	char *words[] = { (char *)path, NULL };
	int status, fd = way == BY_DESCRIPTOR ? open(path, O_PATH) : AT_FDCWD;
	pid_t child;

	if (fd == -1)
		return -1;
	child = fork();
	if (child < 0)
		return -1;
	if (!child) {
		if (way == BY_NAME)
			execv(path, words);
		else
			syscall(SYS_execveat, fd, way == BY_DESCRIPTOR ? "" : path, words, NULL,
				AT_EMPTY_PATH);
		_exit(errno);
	}
	waitpid(child, &status, 0);
	errno = WEXITSTATUS(status);
	return errno && errno != 127 ? -1 : 0; /* 127: it began, and its loader may open nothing */
}

int main(int count, char **arguments)
{
	const char *secret = count < 7 ? exit(2), "" : arguments[1];
	pid_t other = atoi(arguments[2]), victim = atoi(arguments[6]);
	char text[512], folder[512], beside[600], path[64];
	struct iovec here = { text, sizeof(text) }, there = { (void *)0x400000, 16 };
	int fd;

	strcpy(folder, secret);
	*strrchr(folder, '/') = 0;
	if (count > 7 && netlab_host_confine())
		return 3;
	snprintf(beside, sizeof(beside), "%s/made", folder);
	told("read a file", fd = open(secret, O_RDONLY));
	told("write a file", open(secret, O_WRONLY));
	told("make a file", open(beside, O_WRONLY | O_CREAT, 0600));
	told("make a folder", mkdir(beside, 0700));
	told("list a folder", open(folder, O_RDONLY | O_DIRECTORY));
	told("change a mode", chmod(secret, 0));
	told("rename a file", rename(secret, beside));
	told("delete a file", unlink(secret));
	told("cut a file", truncate(secret, 0));
	told("read /etc/passwd", open("/etc/passwd", O_RDONLY));
	snprintf(path, sizeof(path), "/proc/%d/environ", other);
	told("read another's environment", open(path, O_RDONLY));
	snprintf(path, sizeof(path), "/proc/%d/mem", other);
	told("open another's memory", open(path, O_RDWR));
	snprintf(path, sizeof(path), "/proc/%d/root", other);
	told("open another's root", open(path, O_RDONLY | O_DIRECTORY));
	told("signal another", kill(other, 0));
	told("signal all", kill(-1, 0));
	told("end another", kill(victim, SIGKILL));
	told("queue a signal", syscall(SYS_tgkill, other, other, SIGCONT));
	told("signal by owner", ({
		int pair[2];
		long to_itself = socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
		to_itself < 0 ? -1 : fcntl(pair[0], F_SETSIG, SIGKILL);
	}));
	told("trace another", ptrace(PTRACE_SEIZE, other, 0, 0));
	told("copy another's memory", process_vm_readv(other, &here, 1, &there, 1, 0));
	told("hold another", syscall(SYS_pidfd_open, other, 0));
	told("limit another", syscall(SYS_prlimit64, other, 7, NULL, text));
	told("send to a socket", to_socket(arguments[3], 0));
	told("send to an abstract socket", to_socket(arguments[4], 1));
	told("send by a pair", by_a_pair(arguments[3]));
	told("send to a port", to_port(atoi(arguments[5])));
	told("a raw socket", socket(AF_PACKET, SOCK_RAW, 0));
	told("a netlink socket", socket(AF_NETLINK, SOCK_RAW, 0));
	told("a vsock socket", socket(AF_VSOCK, SOCK_STREAM, 0));
	told("start a program", program("/bin/true", BY_NAME));
	told("start a program by descriptor", program("/bin/true", BY_DESCRIPTOR));
	told("start a program by execveat", program("/bin/true", BY_NAME_OR_DESCRIPTOR));
	told("a clone in a user namespace", ({
		long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
		child ? child : (_exit(0), 0);
	}));
	told("a user namespace", unshare(CLONE_NEWUSER));
	told("a mount namespace", unshare(CLONE_NEWNS));
	told("mount", mount("none", "/tmp", "tmpfs", 0, NULL));
	told("another root", chroot("/"));
	told("io_uring", syscall(SYS_io_uring_setup, 1, memset(text, 0, sizeof(text))));
	told("bpf", syscall(SYS_bpf, 0, memset(text, 0, sizeof(text)), 72));
	told("perf", syscall(SYS_perf_event_open, memset(text, 0, sizeof(text)), 0, -1, -1, 0));
	told("keys", syscall(SYS_keyctl, 0, -3, 1));
	told("userfaultfd", syscall(SYS_userfaultfd, 1));
	told("push input to a terminal", ioctl(1, 0x5412, "x"));
	told("disk beyond a file's end", ({
		long made = syscall(SYS_fallocate, 1, FALLOC_FL_KEEP_SIZE, 0, 4096);
		/* standard output may be a pipe, which has no disk, but the call was let through */
		made < 0 && errno != EPERM ? 0 : made;
	}));
	told("memory that no file counts", (long)mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
						      MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	told("memory in a file", memfd_create("more", 0));
	told("a longer file", ({
		long made = ftruncate(1, 1 << 20);
		/* standard output may be a pipe, which has no length, but the call was let through */
		made < 0 && errno != EPERM ? 0 : made;
	}));
	told("more open files than it was given", ({
		struct rlimit files;
		getrlimit(RLIMIT_NOFILE, &files);
		files.rlim_cur = files.rlim_max = files.rlim_max + 1;
		setrlimit(RLIMIT_NOFILE, &files);
	}));
	told("its own memory", (long)mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	printf("all tried\n");
	return 0;
}
