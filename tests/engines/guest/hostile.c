/*
 * A program in the place of a guest's kernel that wears its parent and the machine down: NETLAB_SEED
 * says how. It answers the first question, and ends by itself after a minute, whatever happens.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WELL, KEYS, DEAF, ASKS_ON, HALF, DISK, FLOOD, MEMFDS, PRIVATE, PROCESSES, FILES };

#define MB (1 << 20)
static char piece[MB];

static int number(const char *name)
{
	return atoi(getenv(name));
}

static void end(int number)
{
	_exit(0);
}

static void answer(void)
{
	static const char done[] = ".{\"done\": true, \"clock_ns\": 0}";

	if (recv(number("NETLAB_FD"), piece, sizeof(piece), 0) <= 0)
		_exit(0);
	send(number("NETLAB_FD"), done, sizeof(done) - 1, MSG_NOSIGNAL);
}

static void fork_on(int children, int grandchildren)
{
	for (int n = 0; n < children; n++)
		if (!fork()) {
			for (int m = 0; m < grandchildren; m++)
				if (!fork())
					break;
			alarm(60);
			for (;;)
				pause();
		}
}

int main(void)
{
	int how = number("NETLAB_SEED"), control = number("NETLAB_CONTROL_FD");

	signal(SIGALRM, end); /* the first process of a namespace has to say so */
	alarm(60);
	memset(piece, 1, sizeof(piece));
	if (how == KEYS) /* reads of this socket wait from now on, whoever reads */
		fcntl(number("NETLAB_INT_FD"), F_SETFL, 0);
	answer();
	memset(piece, 1, sizeof(piece));
	switch (how) {
	case KEYS:
	case WELL:
		for (;;)
			answer();
	case ASKS_ON: /* a question of the right length, for ever, and no answer is taken */
		while (send(control, piece, 120, MSG_NOSIGNAL) > 0)
			;
		break;
	case HALF:
		send(control, piece, 7, MSG_NOSIGNAL);
		break;
	case DISK:
		if (syscall(SYS_fallocate, 1, FALLOC_FL_KEEP_SIZE, 0, 256 * MB))
			fcntl(1, F_SETFL, O_DIRECT); /* then the parent could not read it, either */
		answer();
		break;
	case FLOOD:
		answer();
		for (int n = 0; n < 256; n++)
			write(1, piece, MB);
		return 0;
	case MEMFDS: /* it stays where it is refused all of that */
		if (memfd_create("more", 0) >= 0 ||
		    !ftruncate(number("NETLAB_MEMORY_FD"), 1LL << 40) ||
		    pwrite(number("NETLAB_MEMORY_FD"), piece, MB, 1LL << 40) > 0 ||
		    mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) !=
			    MAP_FAILED)
			return 0;
		for (;;)
			answer();
	case PRIVATE:
		for (int n = 0; n < 256; n++) {
			char *more = mmap(NULL, MB, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			memset(more, 1, MB);
			mprotect(more, MB, PROT_READ); /* no longer counted as data */
		}
		break;
	case PROCESSES:
		fork_on(20, 20);
		break;
	case FILES:
		for (int n = 0, pair[2]; n < 1000; n++)
			socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	}
	for (;;)
		pause();
}
