/* test PTXLINK PTXAS DIR TMP [once]: links main.ptx and lib.ptx of DIR in every way of ptxlink.h, with
 * once without fork, in whose children tools lose threads of the parent. */
#define _GNU_SOURCE
#include "ptxlink.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef _WIN32
#include <windows.h>
#include <tlhelp32.h>
#else
#include <sys/wait.h>
#endif

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

#ifdef _WIN32
#define OTHER_PROGRAM "hostname.exe" /* found on PATH */

/* Names an executable that does not end. */
static void write_slow(char *path, size_t size, const char *directory)
{
	snprintf(path, size, "%s/slow.exe", directory);
}

/* It does not say that it runs. */
static void await(const char *path) { usleep(path ? 300000 : 0); }

static void kill_servers(void)
{
	HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
	PROCESSENTRY32 entry = {.dwSize = sizeof entry};
	int killed = 0;
	for (BOOL more = Process32First(all, &entry); more; more = Process32Next(all, &entry)) {
		if (entry.th32ParentProcessID != GetCurrentProcessId())
			continue;
		HANDLE child = OpenProcess(PROCESS_TERMINATE | SYNCHRONIZE, FALSE, entry.th32ProcessID);
		killed += child && TerminateProcess(child, 9) && !WaitForSingleObject(child, INFINITE);
		CloseHandle(child);
	}
	CloseHandle(all);
	CHECK(killed == 1);
}
#else
#define OTHER_PROGRAM "/bin/true"

static void write_slow(char *path, size_t size, const char *directory)
{
	snprintf(path, size, "%s/slow", directory);
	FILE *f = fopen(path, "w");
	CHECK(f && fprintf(f, "#!/bin/sh\n: >'%s.runs'\nexec tail -f /dev/null\n", path) >= 0 && !fclose(f) && !chmod(path, 0755));
}

/* Waits until the executable of write_slow runs. */
static void await(const char *path)
{
	char runs[5000];
	snprintf(runs, sizeof runs, "%s.runs", path);
	while (access(runs, F_OK))
		usleep(10000);
}

static void kill_servers(void)
{
	char command[5000];
	snprintf(command, sizeof command, "pkill -KILL -P %ld -x ptxlink", (long)getpid());
	CHECK(!system(command));
	siginfo_t ended;
	CHECK(!waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT));
}
#endif

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
	ptxlink *other = ptxlink_create(OTHER_PROGRAM);
	link = both(other);
	CHECK(ptxlink_run(link, PTXLINK_PTX) == PTXLINK_SERVER && strstr(ptxlink_text(link), "protocol"));
	ptxlink_link_destroy(link);
	ptxlink_destroy(other);
	ptxlink_destroy(NULL);
	ptxlink_link_destroy(NULL);
}

/* What cannot be added makes the link fail. */
static void fails(ptxlink *linker, const char *directory)
{
	ptxlink_link *link = both(linker);
	CHECK(ptxlink_add(link, "huge.ptx", lib_text, SIZE_MAX) == PTXLINK_MEMORY && ptxlink_option(link, NULL) == PTXLINK_USAGE);
	CHECK(ptxlink_run(link, PTXLINK_PTX) == PTXLINK_MEMORY && !strcmp(ptxlink_text(link), "out of memory") && !ptxlink_output(link, NULL));
	CHECK(!strcmp(ptxlink_messages(link), "[]"));
	ptxlink_link_destroy(link);
	const char *said[] = {"ptxlink_option: the option is NULL", "ptxlink_add_file: the path is NULL", "ptxlink_add: the name is NULL", "x: the data is NULL"};
	for (int i = 0; i < 4; i++) {
		link = both(linker);
		CHECK((i == 0 ? ptxlink_option(link, NULL) : i == 1 ? ptxlink_add_file(link, NULL) : ptxlink_add(link, i == 2 ? NULL : "x", NULL, 1)) == PTXLINK_USAGE);
		CHECK(ptxlink_run(link, PTXLINK_PTX) == PTXLINK_USAGE && !strcmp(ptxlink_text(link), said[i]));
		ptxlink_link_destroy(link);
	}
	char *large = malloc((16 << 20) + 1);
	CHECK(large);
	memset(large, 'x', 16 << 20);
	large[16 << 20] = 0;
	link = both(linker);
	CHECK(ptxlink_option(link, large) == PTXLINK_OK && ptxlink_run(link, PTXLINK_PTX) == PTXLINK_USAGE && strstr(ptxlink_text(link), "16 MiB"));
	ptxlink_link_destroy(link);
	free(large);
	/* Without memory, there is no linker. */
	CHECK(!ptxlink_link_create(NULL) && ptxlink_add(NULL, "x", "", 0) == PTXLINK_MEMORY && ptxlink_add_file(NULL, "/x") == PTXLINK_MEMORY);
	CHECK(ptxlink_option(NULL, "-O1") == PTXLINK_MEMORY && ptxlink_run(NULL, PTXLINK_PTX) == PTXLINK_MEMORY && !strcmp(ptxlink_text(NULL), "out of memory"));
	size_t size = 1;
	CHECK(!ptxlink_output(NULL, &size) && size == 0 && !ptxlink_origin(NULL, 1, &size) && !strcmp(ptxlink_messages(NULL), "[]"));
	ptxlink_cancel(NULL);
#ifdef _WIN32
	(void)directory;
#else
	char gone[4096];
	snprintf(gone, sizeof gone, "%s/gone", directory);
	int back = open(".", O_RDONLY);
	CHECK(back >= 0 && !mkdir(gone, 0755) && !chdir(gone) && !rmdir(gone));
	link = both(linker);
	CHECK(ptxlink_add_file(link, "more.ptx") == PTXLINK_IO && ptxlink_add_file(link, lib_path) == PTXLINK_OK);
	CHECK(ptxlink_run(link, PTXLINK_PTX) == PTXLINK_IO && !strncmp(ptxlink_text(link), "more.ptx: the working directory cannot be found: ", 48));
	ptxlink_link_destroy(link);
	CHECK(!fchdir(back) && !close(back));
#endif
}

static void same_name(ptxlink *linker)
{
	ptxlink_link *link = ptxlink_link_create(linker);
	CHECK(ptxlink_add(link, "k.ptx", main_text, strlen(main_text)) == PTXLINK_OK && ptxlink_add(link, "k.ptx", lib_text, strlen(lib_text)) == PTXLINK_OK);
	CHECK(ptxlink_run(link, PTXLINK_PTX) == PTXLINK_OK && ptxlink_output(link, NULL));
	CHECK(ptxlink_add(link, "k.ptx", lib_text, strlen(lib_text)) == PTXLINK_OK);
	CHECK(ptxlink_run(link, PTXLINK_CHECK) == PTXLINK_REFUSED && strstr(ptxlink_text(link), "\nk.ptx#2:") && strstr(ptxlink_text(link), "k.ptx#3:"));
	ptxlink_link_destroy(link);
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

#ifndef _WIN32
static void forks(ptxlink *linker)
{
	pthread_t thread;
	CHECK(!pthread_create(&thread, NULL, many, linker));
	pid_t children[4];
	for (int i = 0; i < 4; i++) {
		if ((children[i] = fork()) == 0) {
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
#endif

static void *run(void *link) { return (void *)(intptr_t)ptxlink_run(link, PTXLINK_CUBIN); }

static void cancels(ptxlink *linker, const char *directory)
{
	char slow[4096], option[5000];
	write_slow(slow, sizeof slow, directory);
	snprintf(option, sizeof option, "--ptxas=%s", slow);
	ptxlink_link *link = both(linker);
	CHECK(ptxlink_option(link, option) == PTXLINK_OK && ptxlink_option(link, "--arch=sm_80") == PTXLINK_OK);
	ptxlink_cancel(link); /* it does not run */
	pthread_t thread;
	CHECK(!pthread_create(&thread, NULL, run, link));
	await(slow);
	link_both(linker); /* meanwhile */
	ptxlink_cancel(link);
	void *code;
	pthread_join(thread, &code);
	CHECK((intptr_t)code == PTXLINK_CANCELLED);
	ptxlink_link_destroy(link);
}

/* A linker starts an executable that was killed again. */
static void restarts(ptxlink *linker)
{
	link_both(linker);
	kill_servers();
	link_both(linker);
}

#ifdef _WIN32
static wchar_t *widened(const char *directory, const char *name)
{
	static wchar_t wide[4096];
	char path[4096];
	snprintf(path, sizeof path, "%s%s", directory, name);
	MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, 4096);
	return wide;
}

/* Runs the executable from a directory whose name has blanks and is not ASCII, and links a file there. */
static void names(const char *directory)
{
	char other[4096];
	CHECK(CreateDirectoryW(widened(directory, "/a b \xc3\xa9\xe2\x82\xac"), NULL) && SetCurrentDirectoryW(widened(directory, "/a b \xc3\xa9\xe2\x82\xac")));
	CHECK(CopyFileW(widened(program, ""), L"ptxlink \u00e9.exe", TRUE) && CopyFileA(lib_path, "lib.ptx", TRUE));
	snprintf(other, sizeof other, "%s/a b \xc3\xa9\xe2\x82\xac/ptxlink \xc3\xa9.exe", directory);
	CHECK(SetEnvironmentVariableW(L"PTXLINK", widened(other, "")));
	ptxlink *linker = ptxlink_create(NULL);
	ptxlink_link *link = ptxlink_link_create(linker);
	CHECK(ptxlink_add(link, "main.ptx", main_text, strlen(main_text)) == PTXLINK_OK && ptxlink_add_file(link, "lib.ptx") == PTXLINK_OK);
	CHECK(SetCurrentDirectoryA("/") && ptxlink_run(link, PTXLINK_PTX) == PTXLINK_OK && ptxlink_output(link, NULL));
	ptxlink_link_destroy(link);
	ptxlink_destroy(linker);
}

/* The server inherits nothing else, and other children nothing of ours. */
static void handles(const char *directory)
{
	HANDLE ends[2];
	SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
	CHECK(CreatePipe(&ends[0], &ends[1], &inherit, 0));
	ptxlink *linker = ptxlink_create(program);
	link_both(linker);
	CloseHandle(ends[1]);
	DWORD n;
	CHECK(!PeekNamedPipe(ends[0], NULL, 0, NULL, &n, NULL) && GetLastError() == ERROR_BROKEN_PIPE);
	CloseHandle(ends[0]);

	STARTUPINFOW startup = {.cb = sizeof startup};
	PROCESS_INFORMATION other;
	CHECK(CreateProcessW(NULL, widened(directory, "/slow.exe"), NULL, NULL, TRUE, 0, NULL, NULL, &startup, &other));
	ptxlink_destroy(linker); /* waits for the end of the server */
	CHECK(WaitForSingleObject(other.hProcess, 0) == WAIT_TIMEOUT && TerminateProcess(other.hProcess, 0));
	CloseHandle(other.hProcess);
	CloseHandle(other.hThread);
}
#endif

int main(int count, char **args)
{
	CHECK(count >= 5);
	program = args[1];
	ptxas = args[2];
	main_text = contents(args[3], "main.ptx");
	lib_text = contents(args[3], "lib.ptx");
	snprintf(lib_path, sizeof lib_path, "%s/lib.ptx", args[3]);
	ptxlink *linker = ptxlink_create(program);
	ptxlink_destroy(ptxlink_create(program)); /* without a link */
	link_both(linker);
	errors(linker);
	fails(linker, args[4]);
	same_name(linker);
	cubin(linker);
	cancels(linker, args[4]);
	restarts(linker);
	threads(linker);
#ifdef _WIN32
	names(args[4]);
	handles(args[4]);
#else
	if (count == 5)
		forks(linker);
	/* As hosts have it that do not wait for children. */
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
#endif
	ptxlink *ignoring = ptxlink_create(program);
	cubin(ignoring);
	link_both(linker);
	ptxlink_destroy(ignoring);
	ptxlink_destroy(linker);
	free(main_text);
	free(lib_text);
	return 0;
}
