#define _GNU_SOURCE
#include "ptxlink.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* A growing string, with a NUL behind it. After a failure it takes nothing more. */
struct text {
	char *data;
	size_t size, room;
	int failed;
};

static void append(struct text *t, const void *data, size_t size)
{
	if (t->failed || size > SIZE_MAX / 4) {
		t->failed = 1;
		return;
	}
	if (t->size + size + 1 > t->room) {
		size_t room = 2 * (t->size + size + 1);
		char *grown = realloc(t->data, room);
		if (!grown) {
			t->failed = 1;
			return;
		}
		t->data = grown;
		t->room = room;
	}
	if (size)
		memcpy(t->data + t->size, data, size);
	t->size += size;
	t->data[t->size] = 0;
}

static void append_string(struct text *t, const char *s) { append(t, s, strlen(s)); }

static void append_number(struct text *t, unsigned long long n)
{
	char digits[24];
	append(t, digits, (size_t)snprintf(digits, sizeof digits, "%llu", n));
}

/* Returns the length of a UTF-8 sequence (RFC 3629), or 0. */
static size_t utf8(const unsigned char *s)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
		return 0;
	return n;
}

/* Appends a JSON string. Bytes that are no UTF-8 become U+FFFD. */
static void append_json(struct text *t, const char *string)
{
	const unsigned char *s = (const unsigned char *)string;
	append(t, "\"", 1);
	while (*s) {
		size_t n = utf8(s);
		char escaped[8];
		if (n == 0) {
			append_string(t, "\\ufffd");
			n = 1;
		} else if (*s < ' ' || *s == '"' || *s == '\\') {
			append(t, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\u%04x", *s));
		} else {
			append(t, s, n);
		}
		s += n;
	}
	append(t, "\"", 1);
}

/* Skips a value of JSON, which the server wrote, and blanks before it. */
static const char *skip(const char *s)
{
	s += strspn(s, " \t\r\n");
	if (*s == '"') {
		for (s++; *s && *s != '"'; s++)
			if (*s == '\\' && s[1])
				s++;
		return *s ? s + 1 : s;
	}
	if (*s != '{' && *s != '[')
		return s + strcspn(s, ",]} \t\r\n");
	for (int depth = 0; *s;) {
		if (*s == '"') {
			s = skip(s);
			continue;
		}
		if (*s == '{' || *s == '[')
			depth++;
		if ((*s == '}' || *s == ']') && --depth == 0)
			return s + 1;
		s++;
	}
	return s;
}

/* Returns the next element of an array, or value of an object, or NULL. *at is the bracket
 * before the first, then where the last ended. */
static const char *element(const char **at)
{
	const char *s = *at + (**at == '[' || **at == '{');
	s += strspn(s, ", \t\r\n");
	if (!*s || *s == ']' || *s == '}')
		return NULL;
	*at = skip(s);
	return s;
}

/* Returns the value of a field of an object, or NULL. */
static const char *field(const char *object, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = object, *key; object && *object == '{' && (key = element(&at));) {
		const char *value = at + strspn(at, ": \t\r\n");
		at = skip(value);
		if (key[0] == '"' && !strncmp(key + 1, name, length) && key[1 + length] == '"')
			return value;
	}
	return NULL;
}

/* Returns the value of a field that is an array. */
static const char *array(const char *object, const char *name)
{
	const char *value = field(object, name);
	return value && *value == '[' ? value : "[]";
}

static long long number(const char *value) { return value ? strtoll(value, NULL, 10) : 0; }

static unsigned code_unit(const char *s)
{
	char digits[5] = {0};
	memcpy(digits, s, strnlen(s, 4));
	return (unsigned)strtoul(digits, NULL, 16);
}

/* Returns a JSON string decoded, to be freed, or NULL without memory. */
static char *decoded(const char *value)
{
	struct text t = {0};
	append(&t, "", 0);
	if (!value || *value != '"')
		return t.data;
	for (const char *s = value + 1; *s && *s != '"'; s++) {
		if (*s != '\\') {
			append(&t, s, 1);
			continue;
		}
		const char *plain = *++s ? strchr("n\nt\tr\rb\bf\f", *s) : NULL;
		if (*s == 'u') {
			unsigned c = code_unit(s + 1);
			s += strnlen(s + 1, 4);
			if (c >= 0xd800 && c < 0xdc00 && s[1] == '\\' && s[2] == 'u') {
				c = 0x10000 + ((c - 0xd800) << 10) + (code_unit(s + 3) - 0xdc00);
				s += 2 + strnlen(s + 3, 4);
			}
			char bytes[4];
			size_t n = 0;
			if (c < 0x80)
				bytes[n++] = (char)c;
			else if (c < 0x800)
				bytes[n++] = (char)(0xc0 | c >> 6);
			else if (c < 0x10000)
				bytes[n++] = (char)(0xe0 | c >> 12);
			else
				bytes[n++] = (char)(0xf0 | c >> 18);
			if (c >= 0x10000)
				bytes[n++] = (char)(0x80 | (c >> 12 & 0x3f));
			if (c >= 0x800)
				bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
			if (c >= 0x80)
				bytes[n++] = (char)(0x80 | (c & 0x3f));
			append(&t, bytes, n);
		} else if (plain) {
			append(&t, plain + 1, 1);
		} else {
			append(&t, s, 1);
		}
	}
	if (t.failed) {
		free(t.data);
		return NULL;
	}
	return t.data;
}

struct input {
	char *name;
	char *data; /* NULL for a file */
	size_t size;
};

enum state { IDLE, WAITING, DONE };

struct ptxlink_link {
	ptxlink *linker;
	struct input *inputs;
	size_t inputs_size;
	char **options;
	size_t options_size;

	/* Guarded by the lock of the linker. */
	enum state state;
	unsigned long long id;
	ptxlink_link *next; /* of those that wait */

	/* The result. */
	int code;
	char *json; /* the header of the answer */
	char *output, *text, *messages;
	size_t output_size;
	char **modules;
	size_t modules_size;
	long long *lines; /* two numbers for each */
	size_t lines_size;
};

struct ptxlink {
	char *executable;
	atomic_long pid; /* of the process that uses it, or 0 while one takes it over */

	pthread_mutex_t lock;  /* for what follows */
	pthread_mutex_t write; /* for requests; taken before lock, if both */
	pthread_cond_t changed;
	pid_t server; /* 0 if there is none */
	int socket;
	int reading; /* a thread reads answers for all */
	unsigned long long last;
	ptxlink_link *waiting;
};

static void start_locks(ptxlink *l)
{
	pthread_mutex_init(&l->lock, NULL);
	pthread_mutex_init(&l->write, NULL);
	pthread_cond_init(&l->changed, NULL);
}

ptxlink *ptxlink_create(const char *executable)
{
	ptxlink *l = calloc(1, sizeof *l);
	if (!executable)
		executable = getenv("PTXLINK");
	if (l && !(l->executable = strdup(executable && *executable ? executable : "ptxlink"))) {
		free(l);
		return NULL;
	}
	if (l) {
		atomic_init(&l->pid, (long)getpid());
		l->socket = -1;
		start_locks(l);
	}
	return l;
}

/* Gives the linker to the child of a fork. What other threads of the parent held is not held in the
 * child, where there are no such threads. */
static void take_over(ptxlink *l)
{
	long self = (long)getpid();
	for (;;) {
		long owner = atomic_load(&l->pid);
		if (owner == self)
			return;
		if (owner == 0 || !atomic_compare_exchange_strong(&l->pid, &owner, 0))
			continue; /* another thread takes it over */
		if (l->socket >= 0)
			close(l->socket);
		l->socket = -1;
		l->server = 0;
		l->reading = 0;
		l->waiting = NULL;
		start_locks(l);
		atomic_store(&l->pid, self);
		return;
	}
}

/* Closes the connection: the server ends when its input does, also if children of fork have the
 * socket too. The lock is held. */
static void hang_up(ptxlink *l)
{
	if (l->socket >= 0) {
		shutdown(l->socket, SHUT_RDWR);
		close(l->socket);
	}
	if (l->server > 0)
		while (waitpid(l->server, NULL, 0) < 0 && errno == EINTR)
			; /* with SIGCHLD ignored there is nothing to wait for */
	l->socket = -1;
	l->server = 0;
}

void ptxlink_destroy(ptxlink *l)
{
	if (!l)
		return;
	take_over(l);
	hang_up(l);
	pthread_cond_destroy(&l->changed);
	pthread_mutex_destroy(&l->write);
	pthread_mutex_destroy(&l->lock);
	free(l->executable);
	free(l);
}

static int receive(int from, void *into, size_t size)
{
	for (char *at = into; size;) {
		ssize_t n = recv(from, at, size, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		at += n;
		size -= (size_t)n;
	}
	return 1;
}

static int transmit(int to, const void *data, size_t size)
{
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* SO_NOSIGPIPE is set */
#endif
	for (const char *at = data; size;) {
		ssize_t n = send(to, at, size, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		at += n;
		size -= (size_t)n;
	}
	return 1;
}

/* Reads the header of an answer; NULL if there is none. */
static char *receive_header(int from)
{
	unsigned char b[4];
	if (!receive(from, b, sizeof b))
		return NULL;
	size_t size = b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
	char *header = malloc(size + 1);
	if (header && receive(from, header, size)) {
		header[size] = 0;
		return header;
	}
	free(header);
	return NULL;
}

/* Starts the server. The lock is held. It returns an error number, or -1 for a server of another
 * kind. */
static int start(ptxlink *l)
{
	int ends[2];
#ifndef SOCK_CLOEXEC
#define SOCK_CLOEXEC 0
#endif
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return errno;
	for (int i = 0; i < 2; i++) {
		fcntl(ends[i], F_SETFD, FD_CLOEXEC);
#ifdef SO_NOSIGPIPE
		setsockopt(ends[i], SOL_SOCKET, SO_NOSIGPIPE, &(int){1}, sizeof(int));
#endif
	}
	/* The server has signals as a shell would give them, whatever the host ignores, and does not
	 * share the Ctrl-C of its terminal. */
	posix_spawnattr_t attributes;
	posix_spawn_file_actions_t actions;
	static const int signals[] = {SIGCHLD, SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2};
	sigset_t none, usual;
	sigemptyset(&none);
	sigemptyset(&usual);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaddset(&usual, signals[i]);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigdefault(&attributes, &usual);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	char *args[] = {l->executable, "serve", NULL};
	int failed = posix_spawnp(&l->server, l->executable, &actions, &attributes, args, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	close(ends[1]);
	l->socket = ends[0];
	if (failed) {
		l->server = 0;
	} else {
		struct timeval patience = {30, 0}, none = {0, 0}; /* another program may say nothing */
		setsockopt(l->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
		errno = 0;
		char *hello = receive_header(l->socket);
		if (!hello && (errno == EAGAIN || errno == EWOULDBLOCK))
			kill(l->server, SIGKILL);
		failed = hello && number(field(hello, "protocol")) == 1 ? 0 : -1;
		free(hello);
		setsockopt(l->socket, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
	}
	if (failed)
		hang_up(l);
	return failed;
}

ptxlink_link *ptxlink_link_create(ptxlink *linker)
{
	ptxlink_link *k = calloc(1, sizeof *k);
	if (k)
		k->linker = linker;
	return k;
}

static void forget(ptxlink_link *k)
{
	for (size_t i = 0; i < k->modules_size; i++)
		free(k->modules[i]);
	free(k->modules);
	free(k->lines);
	free(k->json);
	free(k->output);
	free(k->text);
	free(k->messages);
	k->modules = NULL;
	k->lines = NULL;
	k->json = k->output = k->text = k->messages = NULL;
	k->modules_size = k->lines_size = k->output_size = 0;
}

void ptxlink_link_destroy(ptxlink_link *k)
{
	if (!k)
		return;
	forget(k);
	for (size_t i = 0; i < k->inputs_size; i++) {
		free(k->inputs[i].name);
		free(k->inputs[i].data);
	}
	for (size_t i = 0; i < k->options_size; i++)
		free(k->options[i]);
	free(k->inputs);
	free(k->options);
	free(k);
}

static int add(ptxlink_link *k, const char *name, const void *data, size_t size, int copy)
{
	struct input *grown = realloc(k->inputs, (k->inputs_size + 1) * sizeof *grown);
	if (!grown)
		return PTXLINK_MEMORY;
	k->inputs = grown;
	struct input in = {strdup(name), copy ? malloc(size + 1) : NULL, size};
	if (!in.name || (copy && !in.data)) {
		free(in.name);
		free(in.data);
		return PTXLINK_MEMORY;
	}
	if (size)
		memcpy(in.data, data, size);
	k->inputs[k->inputs_size++] = in;
	return PTXLINK_OK;
}

int ptxlink_add(ptxlink_link *k, const char *name, const void *data, size_t size) { return add(k, name, data, size, 1); }

int ptxlink_add_file(ptxlink_link *k, const char *path)
{
	/* The server stays in the directory in which it was started. */
	char *directory = *path == '/' ? strdup("") : getcwd(NULL, 0);
	struct text full = {0};
	append_string(&full, directory ? directory : "");
	append_string(&full, *path == '/' ? "" : "/");
	append_string(&full, path);
	int result = directory && !full.failed ? add(k, full.data, NULL, 0, 0) : PTXLINK_MEMORY;
	free(directory);
	free(full.data);
	return result;
}

int ptxlink_option(ptxlink_link *k, const char *option)
{
	char **grown = realloc(k->options, (k->options_size + 1) * sizeof *grown);
	if (!grown)
		return PTXLINK_MEMORY;
	k->options = grown;
	if (!(k->options[k->options_size] = strdup(option)))
		return PTXLINK_MEMORY;
	k->options_size++;
	return PTXLINK_OK;
}

static const char *const outputs[] = {"ptx", "cubin", "fatbin"};
static const char output_name[] = "ptxlink-output";

/* Appends the header of a request. */
static void write_request(struct text *t, const ptxlink_link *k, int output)
{
	append_string(t, "{\"id\":");
	append_number(t, k->id);
	append_string(t, ",\"args\":[");
	if (output == PTXLINK_CHECK) {
		append_string(t, "\"check\"");
	} else {
		append_string(t, "\"--format=");
		append_string(t, outputs[output]);
		append_string(t, "\",\"-o\",");
		append_json(t, output_name);
	}
	for (size_t i = 0; i < k->options_size; i++) {
		append_string(t, ",");
		append_json(t, k->options[i]);
	}
	append_string(t, ",\"--\"");
	for (size_t i = 0; i < k->inputs_size; i++) {
		append_string(t, ",");
		append_json(t, k->inputs[i].name);
	}
	append_string(t, "],\"files\":[");
	const char *comma = "";
	for (size_t i = 0; i < k->inputs_size; i++) {
		if (!k->inputs[i].data)
			continue;
		append_string(t, comma);
		append_string(t, "{\"name\":");
		append_json(t, k->inputs[i].name);
		append_string(t, ",\"size\":");
		append_number(t, k->inputs[i].size);
		append_string(t, "}");
		comma = ",";
	}
	append_string(t, "]");
	if (output != PTXLINK_CHECK) {
		append_string(t, ",\"outputs\":[");
		append_json(t, output_name);
		append_string(t, "]");
	}
	append_string(t, output == PTXLINK_PTX ? ",\"lines\":true}" : "}");
}

static void set_length(unsigned char b[4], size_t size)
{
	for (int i = 0; i < 4; i++)
		b[i] = (unsigned char)(size >> 8 * i);
}

/* Sends a request. The lock for writing is held. */
static int send_request(int to, const struct text *header, const ptxlink_link *k)
{
	unsigned char length[4];
	set_length(length, header->size);
	if (!transmit(to, length, sizeof length) || !transmit(to, header->data, header->size))
		return 0;
	for (size_t i = 0; i < (k ? k->inputs_size : 0); i++)
		if (k->inputs[i].data && !transmit(to, k->inputs[i].data, k->inputs[i].size))
			return 0;
	return 1;
}

/* Reads bytes behind a header; NULL at the end of the connection or without memory. */
static char *receive_bytes(int from, long long size)
{
	char *data = size >= 0 ? malloc((size_t)size + 1) : NULL;
	if (data && receive(from, data, (size_t)size)) {
		data[size] = 0;
		return data;
	}
	free(data);
	return NULL;
}

/* Reads an answer, and gives it to the link that waits for it. The lock is not held, but this thread
 * alone reads. */
static int receive_answer(ptxlink *l)
{
	ptxlink_link answer = {0};
	if (!(answer.json = receive_header(l->socket)))
		return 0;
	const char *json = answer.json;
	long long id = number(field(json, "id"));
	char *said = receive_bytes(l->socket, number(field(json, "stdout")));
	answer.text = receive_bytes(l->socket, number(field(json, "stderr")));
	int ok = id > 0 && said && answer.text;
	free(said);
	const char *at = array(json, "files");
	for (const char *file; ok && (file = element(&at));) {
		free(answer.output);
		answer.output_size = (size_t)number(field(file, "size"));
		ok = (answer.output = receive_bytes(l->socket, (long long)answer.output_size)) != NULL;
	}
	if (!ok) {
		forget(&answer);
		return 0;
	}
	answer.code = (int)number(field(json, "code"));
	pthread_mutex_lock(&l->lock);
	for (ptxlink_link **k = &l->waiting; *k; k = &(*k)->next) {
		if ((*k)->id != (unsigned long long)id)
			continue;
		ptxlink_link *found = *k;
		*k = found->next;
		found->state = DONE;
		found->code = answer.code;
		found->json = answer.json;
		found->text = answer.text;
		found->output = answer.output;
		found->output_size = answer.output_size;
		pthread_mutex_unlock(&l->lock);
		return 1;
	}
	pthread_mutex_unlock(&l->lock);
	forget(&answer);
	return 1;
}

/* Waits for the answer. One of the threads that wait reads for all. */
static void await(ptxlink *l, ptxlink_link *k)
{
	pthread_mutex_lock(&l->lock);
	while (k->state == WAITING) {
		if (l->reading) {
			pthread_cond_wait(&l->changed, &l->lock);
			continue;
		}
		l->reading = 1;
		pthread_mutex_unlock(&l->lock);
		int ok = receive_answer(l);
		pthread_mutex_lock(&l->lock);
		l->reading = 0;
		if (!ok) { /* nobody gets an answer */
			for (; l->waiting; l->waiting = l->waiting->next) {
				l->waiting->state = DONE;
				l->waiting->code = PTXLINK_SERVER;
			}
			shutdown(l->socket, SHUT_RDWR); /* who writes stops; the next link starts a server */
		}
		pthread_cond_broadcast(&l->changed);
	}
	pthread_mutex_unlock(&l->lock);
}

static int say(ptxlink_link *k, int code, const char *what, const char *why)
{
	struct text t = {0};
	append_string(&t, what);
	append_string(&t, *why ? ": " : "");
	append_string(&t, why);
	free(k->text);
	k->text = t.data;
	k->code = code;
	return code;
}

/* Takes modules and lines out of the header. */
static int read_lines(ptxlink_link *k)
{
	const char *modules = array(k->json, "modules"), *lines = array(k->json, "lines"), *messages = array(k->json, "messages"), *value;
	struct text t = {0};
	append(&t, messages, (size_t)(skip(messages) - messages));
	if (!(k->messages = t.data))
		return 0;
	size_t count = 0;
	for (const char *at = modules; element(&at);)
		count++;
	if (!(k->modules = calloc(count + 1, sizeof *k->modules)))
		return 0;
	for (const char *at = modules; (value = element(&at));)
		if (!(k->modules[k->modules_size++] = decoded(value)))
			return 0;
	count = 0;
	for (const char *at = lines; element(&at);)
		count++;
	if (!(k->lines = calloc(count + 1, sizeof *k->lines)))
		return 0;
	size_t i = 0;
	for (const char *at = lines; (value = element(&at));)
		k->lines[i++] = number(value);
	k->lines_size = count / 2;
	return 1;
}

int ptxlink_run(ptxlink_link *k, int output)
{
	ptxlink *l = k->linker;
	forget(k);
	if (output < PTXLINK_PTX || output > PTXLINK_CHECK)
		return say(k, PTXLINK_USAGE, "no such output", "");
	take_over(l);

	pthread_mutex_lock(&l->write);
	pthread_mutex_lock(&l->lock);
	int failed = 0;
	char byte;
	if (l->server && !l->waiting && recv(l->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
		hang_up(l); /* it has ended */
	if (!l->server)
		failed = start(l);
	k->id = ++l->last;
	struct text header = {0};
	write_request(&header, k, output);
	if (failed || header.failed) {
		pthread_mutex_unlock(&l->lock);
		pthread_mutex_unlock(&l->write);
		free(header.data);
		if (header.failed)
			return say(k, PTXLINK_MEMORY, "out of memory", "");
		return say(k, PTXLINK_SERVER, l->executable, failed > 0 ? strerror(failed) : "it does not speak version 1 of the protocol of ptxlink serve");
	}
	k->state = WAITING;
	k->next = l->waiting;
	l->waiting = k;
	int to = l->socket;
	pthread_mutex_unlock(&l->lock);
	send_request(to, &header, k); /* if it fails, no answer comes */
	pthread_mutex_unlock(&l->write);
	free(header.data);
	await(l, k);

	if (k->code == PTXLINK_SERVER)
		return say(k, PTXLINK_SERVER, "ptxlink serve has ended", "");
	const char *error = field(k->json, "error");
	if (error) {
		char *text = decoded(error);
		say(k, k->code, text ? text : "", "");
		free(text);
	}
	if (!read_lines(k)) {
		forget(k);
		return say(k, PTXLINK_MEMORY, "out of memory", "");
	}
	free(k->json);
	k->json = NULL;
	return k->code;
}

void ptxlink_cancel(ptxlink_link *k)
{
	ptxlink *l = k->linker;
	if (atomic_load(&l->pid) != (long)getpid())
		return; /* it runs in the parent */
	pthread_mutex_lock(&l->write);
	pthread_mutex_lock(&l->lock);
	unsigned long long id = k->state == WAITING ? k->id : 0;
	int to = l->socket;
	pthread_mutex_unlock(&l->lock);
	struct text header = {0};
	append_string(&header, "{\"cancel\":");
	append_number(&header, id);
	append_string(&header, "}");
	if (id && !header.failed)
		send_request(to, &header, NULL);
	pthread_mutex_unlock(&l->write);
	free(header.data);
}

const void *ptxlink_output(const ptxlink_link *k, size_t *size)
{
	if (size)
		*size = k->output_size;
	return k->output;
}

const char *ptxlink_text(const ptxlink_link *k) { return k->text ? k->text : ""; }

const char *ptxlink_messages(const ptxlink_link *k) { return k->messages ? k->messages : "[]"; }

const char *ptxlink_origin(const ptxlink_link *k, size_t line, size_t *input_line)
{
	if (line == 0 || line > k->lines_size)
		return NULL;
	long long module = k->lines[2 * (line - 1)];
	if (module < 0 || (size_t)module >= k->modules_size)
		return NULL;
	if (input_line)
		*input_line = (size_t)k->lines[2 * (line - 1) + 1];
	return k->modules[module];
}
