/* test PTXLINK PTXAS DIR TMP [once]: links main.ptx and lib.ptx of DIR in every way of ptxlink.h, with
 * once without fork, in whose children tools lose threads of the parent. */
#define _GNU_SOURCE
#include "ptxlink.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *program, *ptxas;
static char *main_text, *lib_text, lib_path[4096];

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			exit(1); \
		} \
	} while (0)

static char *contents(const char *directory, const char *name)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	FILE *f = fopen(path, "rb");
	CHECK(f);
	char *text = calloc(1, 1 << 20);
	CHECK(fread(text, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	return text;
}

static ptxlink_link *both(ptxlink *linker)
{
	ptxlink_link *link = ptxlink_link_create(linker);
	CHECK(link && ptxlink_add(link, "main.ptx", main_text, strlen(main_text)) == PTXLINK_OK);
	CHECK(ptxlink_add(link, "lib.ptx", lib_text, strlen(lib_text)) == PTXLINK_OK);
	return link;
}

static void link_both(ptxlink *linker)
{
	ptxlink_link *link = both(linker);
	size_t size, line;
	if (ptxlink_run(link, PTXLINK_PTX) != PTXLINK_OK)
		fprintf(stderr, "%s\n", ptxlink_text(link));
	const char *ptx = ptxlink_output(link, &size);
	CHECK(ptx && size == strlen(ptx) && strstr(ptx, ".visible .entry k_main"));
	CHECK(!strcmp(ptxlink_text(link), "") && !strcmp(ptxlink_messages(link), "[]"));
	size_t at = 1;
	for (const char *s = ptx; s < strstr(ptx, ".entry k_main"); s++)
		at += *s == '\n';
	CHECK(ptxlink_origin(link, at, &line) && !strcmp(ptxlink_origin(link, at, &line), "main.ptx") && line > 0);
	CHECK(!ptxlink_origin(link, 1, &line) && !ptxlink_origin(link, 0, &line) && !ptxlink_origin(link, 1 << 20, &line));
	ptxlink_link_destroy(link);
}

static void errors(ptxlink *linker)
{
	ptxlink_link *link = ptxlink_link_create(linker);
	size_t size = 1;
	CHECK(ptxlink_add(link, "a \"\xc3\xa9\xff\n.ptx", main_text, strlen(main_text)) == PTXLINK_OK);
	CHECK(ptxlink_run(link, PTXLINK_PTX) == PTXLINK_REFUSED);
	CHECK(!ptxlink_output(link, &size) && size == 0);
	CHECK(strstr(ptxlink_text(link), "undefined symbol: ") && strstr(ptxlink_text(link), "\xc3\xa9"));
	CHECK(strstr(ptxlink_messages(link), "\"undefined-symbol\"") && ptxlink_messages(link)[0] == '[');
	/* The same link, with what it lacked. */
	CHECK(ptxlink_add_file(link, lib_path) == PTXLINK_OK);
	CHECK(ptxlink_run(link, PTXLINK_CHECK) == PTXLINK_OK && !ptxlink_output(link, NULL));
	CHECK(ptxlink_run(link, PTXLINK_PTX) == PTXLINK_OK && ptxlink_output(link, NULL));
	CHECK(ptxlink_option(link, "--no-such-option") == PTXLINK_OK);
	CHECK(ptxlink_run(link, PTXLINK_PTX) == PTXLINK_USAGE && strstr(ptxlink_text(link), "--no-such-option"));
	CHECK(ptxlink_run(link, 17) == PTXLINK_USAGE);
	ptxlink_link_destroy(link);

	ptxlink *none = ptxlink_create("/no/such/ptxlink");
	link = both(none);
	CHECK(ptxlink_run(link, PTXLINK_PTX) == PTXLINK_SERVER);
	CHECK(strstr(ptxlink_text(link), "/no/such/ptxlink: ")); /* valgrind hides why */
	ptxlink_link_destroy(link);
	ptxlink_destroy(none);
	ptxlink *other = ptxlink_create("/bin/true");
	link = both(other);
	CHECK(ptxlink_run(link, PTXLINK_PTX) == PTXLINK_SERVER && strstr(ptxlink_text(link), "protocol"));
	ptxlink_link_destroy(link);
	ptxlink_destroy(other);
	ptxlink_destroy(NULL);
	ptxlink_link_destroy(NULL);
}

static void cubin(ptxlink *linker)
{
	ptxlink_link *link = both(linker);
	char option[5000];
	snprintf(option, sizeof option, "--ptxas=%s", ptxas);
	size_t size;
	CHECK(ptxlink_option(link, option) == PTXLINK_OK && ptxlink_option(link, "--arch=sm_80") == PTXLINK_OK);
	CHECK(ptxlink_run(link, PTXLINK_CUBIN) == PTXLINK_OK);
	CHECK(!memcmp(ptxlink_output(link, &size), "\x7f" "ELF", 4) && size > 1000);
	ptxlink_link_destroy(link);
}

static void *many(void *linker)
{
	for (int i = 0; i < 50; i++)
		link_both(linker);
	return NULL;
}

static void threads(ptxlink *linker)
{
	pthread_t list[8];
	for (int i = 0; i < 8; i++)
		CHECK(!pthread_create(&list[i], NULL, many, linker));
	for (int i = 0; i < 8; i++)
		pthread_join(list[i], NULL);
}

static void forks(ptxlink *linker)
{
	pthread_t thread;
	CHECK(!pthread_create(&thread, NULL, many, linker));
	pid_t children[4];
	for (int i = 0; i < 4; i++) {
		if ((children[i] = fork()) == 0) {
			alarm(60);
			threads(linker);
			cubin(linker);
			ptxlink_destroy(linker);
			_exit(0);
		}
	}
	link_both(linker);
	pthread_join(thread, NULL);
	for (int i = 0; i < 4; i++) {
		int status;
		CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0);
	}
}

static void *run(void *link) { return (void *)(intptr_t)ptxlink_run(link, PTXLINK_CUBIN); }

static void cancels(ptxlink *linker, const char *directory)
{
	char slow[4096], option[5000];
	snprintf(slow, sizeof slow, "%s/slow", directory);
	snprintf(option, sizeof option, "--ptxas=%s", slow);
	FILE *f = fopen(slow, "w");
	CHECK(f && fputs("#!/bin/sh\nexec sleep 60\n", f) >= 0 && !fclose(f) && !chmod(slow, 0755));
	ptxlink_link *link = both(linker);
	CHECK(ptxlink_option(link, option) == PTXLINK_OK && ptxlink_option(link, "--arch=sm_80") == PTXLINK_OK);
	ptxlink_cancel(link); /* it does not run */
	pthread_t thread;
	CHECK(!pthread_create(&thread, NULL, run, link));
	usleep(300000);
	link_both(linker); /* meanwhile */
	ptxlink_cancel(link);
	void *code;
	pthread_join(thread, &code);
	CHECK((intptr_t)code == PTXLINK_CANCELLED);
	ptxlink_link_destroy(link);
}

/* Kills the children of this process that run the program: a linker starts it again. */
static void restarts(ptxlink *linker)
{
	char command[5000];
	snprintf(command, sizeof command, "pkill -KILL -P %ld -x ptxlink", (long)getpid());
	link_both(linker);
	CHECK(!system(command));
	usleep(100000);
	link_both(linker);
}

int main(int count, char **args)
{
	CHECK(count >= 5);
	program = args[1];
	ptxas = args[2];
	main_text = contents(args[3], "main.ptx");
	lib_text = contents(args[3], "lib.ptx");
	snprintf(lib_path, sizeof lib_path, "%s/lib.ptx", args[3]);
	alarm(120);
	ptxlink *linker = ptxlink_create(program);
	ptxlink_destroy(ptxlink_create(program)); /* without a link */
	link_both(linker);
	errors(linker);
	cubin(linker);
	cancels(linker, args[4]);
	restarts(linker);
	threads(linker);
	if (count == 5)
		forks(linker);
	/* As hosts have it that do not wait for children. */
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	ptxlink *ignoring = ptxlink_create(program);
	cubin(ignoring);
	link_both(linker);
	ptxlink_destroy(ignoring);
	ptxlink_destroy(linker);
	free(main_text);
	free(lib_text);
	return 0;
}
