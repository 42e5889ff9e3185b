/*
 * Loaded into the guest kernel's process (LD_PRELOAD) so that nothing of the host leaks into a run:
 *   getrandom() gives numbers drawn from NETLAB_SEED (splitmix64) instead of the host's;
 *   where the host refuses to switch address randomisation off (Docker's default seccomp profile), the program break is put
 *   back to the end of bss, where it would be without randomisation: the guest adds the gap to its physical memory, and
 *   sizes its socket buffers by that.  PR_SET_MM_MAP needs no capability.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define KERNEL_BASE 0x60000000UL	/* user-mode Linux is linked here, unlike any program of the start-up chain */

static uint64_t state;
static int seeded;

ssize_t getrandom(void *buffer, size_t length, unsigned flags)
{
	unsigned char *out = buffer;

	(void)flags;
	if (!seeded) {
		char *seed = getenv("NETLAB_SEED");

		state = seed ? strtoull(seed, NULL, 10) : 1;
		seeded = 1;
	}
	for (size_t i = 0; i < length; i++) {
		uint64_t z = state += 0x9e3779b97f4a7c15ULL;

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
		out[i] = z ^ (z >> 31);
	}
	return length;
}

static void say(const char *text)
{
	(void)!write(2, text, strlen(text));
}

/* Where bss ends, rounded up to a page. */
static uint64_t end_of_bss(void)
{
	Elf64_Phdr *header = (void *)getauxval(AT_PHDR);
	uint64_t end = 0;

	for (unsigned long i = 0; i < getauxval(AT_PHNUM); i++)
		if (header[i].p_type == PT_LOAD && header[i].p_vaddr + header[i].p_memsz > end)
			end = header[i].p_vaddr + header[i].p_memsz;
	return (end + 4095) & ~4095UL;
}

__attribute__((constructor)) static void put_break_back(void)
{
	int before = personality(0xffffffff);
	uint64_t end = end_of_bss(), field[60] = { 0 };
	char stat[2048], *p;
	int fd, k = 2;
	ssize_t n;

	if ((before != -1 && (before & ADDR_NO_RANDOMIZE)) || end < KERNEL_BASE)
		return;
	if (personality(ADDR_NO_RANDOMIZE) != -1) {	/* allowed: the kernel does it itself and starts again */
		personality(before);
		return;
	}
	fd = open("/proc/self/stat", O_RDONLY);
	n = fd < 0 ? -1 : read(fd, stat, sizeof stat - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0) {
		say("netlab: cannot read /proc/self/stat\n");
		return;
	}
	stat[n] = 0;
	for (p = strrchr(stat, ')'); p && *p && k < 55; ) {	/* proc_pid_stat(5): field k of the line */
		p = strchr(p + 1, ' ');
		if (p)
			field[++k] = strtoull(p + 1, NULL, 10);
	}
	if ((uint64_t)syscall(SYS_brk, 0) != field[47]) {
		say("netlab: the heap is in use already\n");
		return;
	}
	struct prctl_mm_map map = {
		.start_code = field[26], .end_code = field[27], .start_data = field[45], .end_data = field[46],
		.start_brk = end, .brk = end, .start_stack = field[28], .arg_start = field[48], .arg_end = field[49],
		.env_start = field[50], .env_end = field[51], .exe_fd = (uint32_t)-1,
	};
	if (prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0))
		say("netlab: PR_SET_MM_MAP refused: results may depend on address randomisation\n");
	else
		brk((void *)end);
}
