#define _GNU_SOURCE
#include "ptxlink.h"

#include "json.h"
#ifdef _WIN32
#include "process_windows.h"
#else
#include "process_posix.h"
#endif

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
	int failed; /* the first failure of what adds to the link */
	char *why;

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
	owner owner;

	mutex lock;  /* for what follows */
	mutex write; /* for requests; taken before lock, if both */
	condition changed;
	struct server server;
	int reading; /* a thread reads answers for all */
	unsigned long long last;
	ptxlink_link *waiting;
};

static void start_locks(ptxlink *l)
{
	start_mutex(&l->lock);
	start_mutex(&l->write);
	start_condition(&l->changed);
}

ptxlink *ptxlink_create(const char *executable)
{
	ptxlink *l = calloc(1, sizeof *l);
	if (!l)
		return NULL;
	l->executable = executable ? strdup(executable) : variable("PTXLINK");
	if (l->executable && !*l->executable) {
		free(l->executable);
		l->executable = strdup("ptxlink");
	}
	if (!l->executable) {
		free(l);
		return NULL;
	}
	start_owner(&l->owner);
	start_locks(l);
	return l;
}

/* Gives the linker to the child of a fork. What other threads of the parent held is not held in the
 * child, where there are no such threads. */
static void take_over(ptxlink *l)
{
	if (!inherited(&l->owner))
		return;
	forget_server(&l->server);
	l->reading = 0;
	l->waiting = NULL;
	start_locks(l);
	own(&l->owner);
}

void ptxlink_destroy(ptxlink *l)
{
	if (!l)
		return;
	take_over(l);
	hang_up(&l->server);
	end_condition(&l->changed);
	end_mutex(&l->write);
	end_mutex(&l->lock);
	free(l->executable);
	free(l);
}

/* Reads the header of an answer; NULL if there is none. */
static char *receive_header(struct server *from)
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
	int failed = start_server(&l->server, l->executable);
	if (failed)
		return failed;
	set_patience(&l->server, 30); /* another program may say nothing */
	char *hello = receive_header(&l->server);
	failed = hello && number(field(hello, "protocol")) == 1 ? 0 : -1;
	free(hello);
	if (failed)
		hang_up(&l->server);
	else
		set_patience(&l->server, 0);
	return failed;
}

ptxlink_link *ptxlink_link_create(ptxlink *linker)
{
	ptxlink_link *k = linker ? calloc(1, sizeof *k) : NULL;
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
	free(k->why);
	free(k);
}

/* Returns "what: why", or NULL without memory. */
static char *sentence(const char *what, const char *why)
{
	struct text t = {0};
	append_string(&t, what);
	append_string(&t, *why ? ": " : "");
	append_string(&t, why);
	return t.data;
}

/* Keeps a failure for ptxlink_run, if it is the first. */
static int fail(ptxlink_link *k, int code, const char *what, const char *why)
{
	if (k && !k->failed) {
		k->failed = code;
		k->why = sentence(what, why);
	}
	return code;
}

static const char no_memory[] = "out of memory";

static int add(ptxlink_link *k, const char *name, const void *data, size_t size, int copy)
{
	struct input *grown = k && size < SIZE_MAX ? realloc(k->inputs, (k->inputs_size + 1) * sizeof *grown) : NULL;
	if (!grown)
		return fail(k, PTXLINK_MEMORY, no_memory, "");
	k->inputs = grown;
	struct input in = {strdup(name), copy ? malloc(size + 1) : NULL, size};
	if (!in.name || (copy && !in.data)) {
		free(in.name);
		free(in.data);
		return fail(k, PTXLINK_MEMORY, no_memory, "");
	}
	if (size)
		memcpy(in.data, data, size);
	k->inputs[k->inputs_size++] = in;
	return PTXLINK_OK;
}

int ptxlink_add(ptxlink_link *k, const char *name, const void *data, size_t size)
{
	if (!name || (!data && size))
		return fail(k, PTXLINK_USAGE, name ? name : "ptxlink_add", name ? "the data is NULL" : "the name is NULL");
	return add(k, name, data, size, 1);
}

int ptxlink_add_file(ptxlink_link *k, const char *path)
{
	if (!path)
		return fail(k, PTXLINK_USAGE, "ptxlink_add_file", "the path is NULL");
	/* The server stays in the directory in which it was started. */
	int error, result;
	char *full = full_path(path, &error);
	if (full) {
		result = add(k, full, NULL, 0, 0);
	} else if (!error) {
		result = fail(k, PTXLINK_MEMORY, no_memory, "");
	} else {
		struct text why = {0};
		append_string(&why, "the working directory cannot be found: ");
		append_error(&why, error);
		result = fail(k, PTXLINK_IO, path, why.data ? why.data : no_memory);
		free(why.data);
	}
	free(full);
	return result;
}

int ptxlink_option(ptxlink_link *k, const char *option)
{
	if (!option)
		return fail(k, PTXLINK_USAGE, "ptxlink_option", "the option is NULL");
	char **grown = k ? realloc(k->options, (k->options_size + 1) * sizeof *grown) : NULL;
	if (!grown)
		return fail(k, PTXLINK_MEMORY, no_memory, "");
	k->options = grown;
	if (!(k->options[k->options_size] = strdup(option)))
		return fail(k, PTXLINK_MEMORY, no_memory, "");
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

enum { max_header = 16 << 20 }; /* a longer one ends the server */

static void set_length(unsigned char b[4], size_t size)
{
	for (int i = 0; i < 4; i++)
		b[i] = (unsigned char)(size >> 8 * i);
}

/* Sends a request. The lock for writing is held. */
static int send_request(struct server *to, const struct text *header, const ptxlink_link *k)
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

/* Reads bytes after a header into memory for them. Without memory, it drops them and sets the code of
 * the answer, so that other answers can be read. It returns 0 at the end of the connection. */
static int receive_bytes(struct server *from, long long size, char **into, int *code)
{
	char dropped[4096];
	free(*into);
	*into = NULL;
	if (size < 0)
		return 0;
	if ((*into = malloc((size_t)size + 1))) {
		(*into)[size] = 0;
		return receive(from, *into, (size_t)size);
	}
	*code = PTXLINK_MEMORY;
	for (size_t left = (size_t)size, n; left; left -= n) {
		n = left < sizeof dropped ? left : sizeof dropped;
		if (!receive(from, dropped, n))
			return 0;
	}
	return 1;
}

/* Reads an answer, and gives it to the link that waits for it. The lock is not held, but this thread
 * alone reads. */
static int receive_answer(ptxlink *l)
{
	ptxlink_link answer = {0};
	if (!(answer.json = receive_header(&l->server)))
		return 0;
	const char *json = answer.json;
	long long id = number(field(json, "id"));
	answer.code = (int)number(field(json, "code"));
	char *said = NULL;
	int ok = id > 0 && receive_bytes(&l->server, number(field(json, "stdout")), &said, &answer.code) &&
		receive_bytes(&l->server, number(field(json, "stderr")), &answer.text, &answer.code);
	free(said);
	const char *at = array(json, "files");
	for (const char *file; ok && (file = element(&at));) {
		answer.output_size = (size_t)number(field(file, "size"));
		ok = receive_bytes(&l->server, (long long)answer.output_size, &answer.output, &answer.code);
	}
	if (!ok) {
		forget(&answer);
		return 0;
	}
	lock(&l->lock);
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
		unlock(&l->lock);
		return 1;
	}
	unlock(&l->lock);
	forget(&answer);
	return 1;
}

/* Waits for the answer. One of the threads that wait reads for all. */
static void await(ptxlink *l, ptxlink_link *k)
{
	lock(&l->lock);
	while (k->state == WAITING) {
		if (l->reading) {
			wait_for(&l->changed, &l->lock);
			continue;
		}
		l->reading = 1;
		unlock(&l->lock);
		int ok = receive_answer(l);
		lock(&l->lock);
		l->reading = 0;
		if (!ok) { /* nobody gets an answer */
			for (; l->waiting; l->waiting = l->waiting->next) {
				l->waiting->state = DONE;
				l->waiting->code = PTXLINK_SERVER;
			}
			disconnect(&l->server); /* who writes stops; the next link starts a server */
		}
		wake_all(&l->changed);
	}
	unlock(&l->lock);
}

static int say(ptxlink_link *k, int code, const char *what, const char *why)
{
	free(k->text);
	k->text = sentence(what, why);
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
	if (!k)
		return PTXLINK_MEMORY;
	ptxlink *l = k->linker;
	forget(k);
	if (k->failed)
		return say(k, k->failed, k->why ? k->why : no_memory, "");
	if (output < PTXLINK_PTX || output > PTXLINK_CHECK)
		return say(k, PTXLINK_USAGE, "no such output", "");
	take_over(l);

	lock(&l->write);
	lock(&l->lock);
	int failed = 0;
	if (is_running(&l->server) && !l->waiting && has_ended(&l->server))
		hang_up(&l->server);
	if (!is_running(&l->server))
		failed = start(l);
	k->id = ++l->last;
	struct text header = {0};
	write_request(&header, k, output);
	if (failed || header.failed || header.size > max_header) {
		unlock(&l->lock);
		unlock(&l->write);
		free(header.data);
		if (header.failed)
			return say(k, PTXLINK_MEMORY, no_memory, "");
		if (!failed)
			return say(k, PTXLINK_USAGE, "the options and names are longer than 16 MiB", "");
		struct text why = {0};
		if (failed > 0)
			append_error(&why, failed);
		say(k, PTXLINK_SERVER, l->executable, failed > 0 && why.data ? why.data : "it does not speak version 1 of the protocol of ptxlink serve");
		free(why.data);
		return k->code;
	}
	k->state = WAITING;
	k->next = l->waiting;
	l->waiting = k;
	unlock(&l->lock);
	send_request(&l->server, &header, k); /* if it fails, no answer comes */
	unlock(&l->write);
	free(header.data);
	await(l, k);

	if (k->code == PTXLINK_MEMORY) {
		forget(k);
		return say(k, PTXLINK_MEMORY, no_memory, "");
	}
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
		return say(k, PTXLINK_MEMORY, no_memory, "");
	}
	free(k->json);
	k->json = NULL;
	return k->code;
}

void ptxlink_cancel(ptxlink_link *k)
{
	ptxlink *l = k ? k->linker : NULL;
	if (!l || !owns(&l->owner))
		return; /* it runs in the parent */
	lock(&l->write);
	lock(&l->lock);
	unsigned long long id = k->state == WAITING ? k->id : 0;
	unlock(&l->lock);
	struct text header = {0};
	append_string(&header, "{\"cancel\":");
	append_number(&header, id);
	append_string(&header, "}");
	if (id && !header.failed)
		send_request(&l->server, &header, NULL);
	unlock(&l->write);
	free(header.data);
}

const void *ptxlink_output(const ptxlink_link *k, size_t *size)
{
	if (size)
		*size = k ? k->output_size : 0;
	return k ? k->output : NULL;
}

const char *ptxlink_text(const ptxlink_link *k)
{
	if (!k || (!k->text && k->code == PTXLINK_MEMORY))
		return no_memory;
	return k->text ? k->text : "";
}

const char *ptxlink_messages(const ptxlink_link *k) { return k && k->messages ? k->messages : "[]"; }

const char *ptxlink_origin(const ptxlink_link *k, size_t line, size_t *input_line)
{
	if (!k || line == 0 || line > k->lines_size)
		return NULL;
	long long module = k->lines[2 * (line - 1)];
	if (module < 0 || (size_t)module >= k->modules_size)
		return NULL;
	if (input_line)
		*input_line = (size_t)k->lines[2 * (line - 1) + 1];
	return k->modules[module];
}
