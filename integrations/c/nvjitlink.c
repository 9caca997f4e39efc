/* Takes the place of NVIDIA's nvJitLink: its functions, which link with ptxlink. MAJOR and MINOR are the
 * release, 12.9 or 13.5. README.md lists what differs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptxlink.h"

/* Results and inputs, as in nvJitLink.h. */
enum { SUCCESS, UNRECOGNIZED_OPTION, MISSING_ARCH, INVALID_INPUT, PTX_COMPILE, NVVM_COMPILE, INTERNAL, THREADPOOL, UNRECOGNIZED_INPUT };
#if MAJOR >= 13
enum { NULL_INPUT = 10, INCOMPATIBLE_OPTIONS, INCORRECT_INPUT_TYPE };
#else
enum { NULL_INPUT = INVALID_INPUT, INCOMPATIBLE_OPTIONS = INVALID_INPUT, INCORRECT_INPUT_TYPE = INVALID_INPUT };
#endif
enum { CUBIN = 1, PTX, LTOIR, FATBIN, OBJECT, LIBRARY, INDEX, ANY = 10 };

typedef int result;

struct real; /* the functions of NVIDIA's library */

typedef struct handle {
	ptxlink_link *link;
	const struct real *real; /* that may link instead */
	void *theirs;
	int forwarded; /* it has linked */
	int lacking;   /* a tool is missing, or a file */
	char *options[64]; /* of ptxlink */
	size_t options_size;
	const char *arch; /* one of them */
	int gpu; /* 80 of sm_80 */
	int virtual; /* -arch=compute_80 */
	int unused; /* 3 with -lto and -optimize-unused-variables */
	int ptx; /* -ptx: no cubin is wanted */
	int done;
	result failed; /* an input was refused */
	unsigned inputs;
	char *log, *info; /* of errors, and of warnings */
	void *cubin, *text;
	size_t cubin_size, text_size;
} handle;

/* One executable serves all handles of the process. */
static ptxlink *linker;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void make_linker(void) { linker = ptxlink_create(NULL); }

struct real {
	result (*create)(void **, uint32_t, const char *const *);
	result (*destroy)(void **);
	result (*add_data)(void *, int, const void *, size_t, const char *);
	result (*add_file)(void *, int, const char *);
	result (*complete)(void *);
	result (*get_size[5])(void *, size_t *);
	result (*get[5])(void *, char *);
};

static const char *const got[] = {"LinkedCubin", "LinkedPtx", "ErrorLog", "InfoLog", "LinkedLTOIR"};
enum { GOT = MAJOR >= 13 ? 5 : 4 };

/* Returns NVIDIA's library, for what needs it: LTO-IR where nvlink and libnvvm are not found. It is the
 * one that $PTXLINK_NVJITLINK names. */
static const struct real *find_real(void)
{
	static struct real r;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static int tried;
	pthread_mutex_lock(&lock);
	const char *path = getenv("PTXLINK_NVJITLINK");
	if (!tried && path && *path) {
		tried = 1;
		void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		*(void **)&r.create = library ? dlsym(library, "nvJitLinkCreate") : NULL;
		*(void **)&r.destroy = library ? dlsym(library, "nvJitLinkDestroy") : NULL;
		*(void **)&r.add_data = library ? dlsym(library, "nvJitLinkAddData") : NULL;
		*(void **)&r.add_file = library ? dlsym(library, "nvJitLinkAddFile") : NULL;
		*(void **)&r.complete = library ? dlsym(library, "nvJitLinkComplete") : NULL;
		int all = r.create && r.destroy && r.add_data && r.add_file && r.complete;
		for (int i = 0; i < GOT; i++) {
			char name[64];
			snprintf(name, sizeof name, "nvJitLinkGet%s", got[i]);
			*(void **)&r.get[i] = library ? dlsym(library, name) : NULL;
			strcat(name, "Size");
			*(void **)&r.get_size[i] = library ? dlsym(library, name) : NULL;
			all = all && r.get[i] && r.get_size[i];
		}
		if (!all)
			r.create = NULL;
	}
	pthread_mutex_unlock(&lock);
	return r.create ? &r : NULL;
}

/* Adds text to a log. */
static void say(char **log, const char *text)
{
	size_t old = *log ? strlen(*log) : 0, more = strlen(text);
	if (!more)
		return;
	char *grown = realloc(*log, old + more + 2);
	if (!grown)
		return;
	memcpy(grown + old, text, more + 1);
	if (text[more - 1] != '\n')
		strcat(grown, "\n");
	*log = grown;
}

/* Adds a line to the log of errors. */
static result complain(handle *h, const char *what, const char *why, result r)
{
	char *line = NULL;
	if (asprintf(&line, "%s %s", what ? what : "", why) >= 0)
		say(&h->log, line);
	free(line);
	return r;
}

/* Keeps the first failure, for nvJitLinkComplete. */
static result keep(handle *h, result r)
{
	h->failed = h->failed ? h->failed : r;
	return r;
}

static int add_option(handle *h, const char *option)
{
	if (h->options_size == sizeof h->options / sizeof *h->options || !(h->options[h->options_size] = strdup(option)))
		return 0;
	h->options_size++;
	return 1;
}

/* Reads an option, with its value behind =. */
static result read_option(handle *h, const char *option)
{
	static const char *const without_effect[] = {"O3", "g", "lineinfo", "no-cache", "split-compile", "split-compile-extended", "jump-table-density", "ftz", "prec-div", "prec-sqrt", "fma", "variables-used", "Ofc=0", "Ofc=min", "Ofc=mid", "Ofc=max", "O", NULL};
	static const struct { const char *name, *option; } same[] = {
		{"maxrregcount=", "-Xptxas=--maxrregcount="}, {"Xptxas=", "-Xptxas="}, {"kernels-used=", "--kernels-used="}, {"verbose", "-Xptxas=-v"}, {"time", "--time"},
	};
	char text[4096];
	const char *name = option + 1;
	if (*option != '-')
		return UNRECOGNIZED_OPTION;
	if (strlen(option) > sizeof text - 100)
		return INTERNAL;
	if (!strncmp(name, "arch=", 5)) {
		const char *gpu = name + 5;
		h->virtual = !strncmp(gpu, "compute_", 8);
		gpu += !strncmp(gpu, "sm_", 3) ? 3 : h->virtual ? 8 : 0;
		size_t digits = strspn(gpu, "0123456789");
		if (gpu == name + 5 || digits < 2 || digits > 3 || gpu[digits + strspn(gpu + digits, "af")])
			return UNRECOGNIZED_OPTION;
		h->gpu = atoi(gpu);
		snprintf(text, sizeof text, "--arch=sm_%s", gpu);
		if (!add_option(h, text))
			return INTERNAL;
		h->arch = h->options[h->options_size - 1];
		return SUCCESS;
	}
	if (!strcmp(name, "ptx")) {
		h->ptx = 1;
		return SUCCESS;
	}
	if (!strcmp(name, "r")) /* ptxas -c */
		return add_option(h, "-r") && add_option(h, "-c") ? SUCCESS : INTERNAL;
	if (!strcmp(name, "O0"))
		return add_option(h, "-Xptxas=-O0") ? SUCCESS : INTERNAL;
	if (!strcmp(name, "lto") || !strcmp(name, "optimize-unused-variables")) {
		h->unused |= *name == 'l' ? 1 : 2;
		return SUCCESS;
	}
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		size_t n = strlen(same[i].name);
		if (!strncmp(name, same[i].name, n)) {
			snprintf(text, sizeof text, "%s%s", same[i].option, name + n);
			return add_option(h, text) ? SUCCESS : INTERNAL;
		}
	}
	for (const char *const *known = without_effect; *known; known++) {
		size_t n = strlen(*known);
		if (!strncmp(name, *known, n) && (!name[n] || name[n] == '='))
			return SUCCESS;
	}
	return UNRECOGNIZED_OPTION;
}

static void forget(handle *h)
{
	if (h->real && h->theirs)
		h->real->destroy(&h->theirs);
	ptxlink_link_destroy(h->link);
	for (size_t i = 0; i < h->options_size; i++)
		free(h->options[i]);
	free(h->log);
	free(h->info);
	free(h->cubin);
	free(h->text);
	free(h);
}

static result create(handle **out, uint32_t count, const char *const *options)
{
	if (!out || (count && !options))
		return NULL_INPUT;
	*out = NULL;
	pthread_once(&once, make_linker);
	handle *h = calloc(1, sizeof *h);
	if (!h || !linker || !(h->link = ptxlink_link_create(linker))) {
		free(h);
		return INTERNAL;
	}
	result failed = SUCCESS;
	for (uint32_t i = 0; i < count && failed == SUCCESS; i++) {
		failed = options[i] ? read_option(h, options[i]) : NULL_INPUT;
		if (failed == UNRECOGNIZED_OPTION)
			complain(h, "unrecognized option:", options[i], failed);
	}
	if (failed == SUCCESS && !h->gpu)
		failed = complain(h, "no option", "-arch=sm_N", MISSING_ARCH);
	if (failed == SUCCESS && h->virtual && !h->ptx)
		failed = complain(h, "-arch=compute_N needs", "-ptx", INCOMPATIBLE_OPTIONS);
	for (size_t i = 0; i < h->options_size; i++)
		if (ptxlink_option(h->link, h->options[i]) != PTXLINK_OK)
			failed = INTERNAL;
	if (failed == SUCCESS && (h->real = find_real()) && h->real->create(&h->theirs, count, options) != SUCCESS)
		h->theirs = NULL;
	if (ptxlink_option(h->link, "-Wno-empty-cubin") != PTXLINK_OK) /* NVIDIA's says nothing of it */
		failed = INTERNAL;
	if (h->unused == 3 && ptxlink_option(h->link, "--gc-variables") != PTXLINK_OK)
		failed = INTERNAL;
	h->failed = failed;
	*out = h; /* the host may ask it for the error log */
	return failed;
}

static result destroy(handle **h)
{
	if (!h || !*h)
		return NULL_INPUT;
	forget(*h);
	*h = NULL;
	return SUCCESS;
}

static int begins(const void *data, size_t size, const char *magic, size_t length) { return size >= length && !memcmp(data, magic, length); }

/* Reports whether data can be what the host says it is. */
static int is_type(int type, const void *data, size_t size)
{
	int elf = begins(data, size, "\x7f" "ELF", 4), fatbin = begins(data, size, "\x50\xed\x55\xba", 4), lto = begins(data, size, "\xed\x43\x4e\x7f", 4), archive = begins(data, size, "!<arch>\n", 8);
	switch (type) {
	case CUBIN:
	case OBJECT:
		return elf;
	case PTX:
		return !elf && !fatbin && !lto && !archive && memmem(data, size, ".version", 8);
	case LTOIR:
		return lto;
	case FATBIN:
		return fatbin;
	case LIBRARY:
		return archive;
	case ANY:
		return elf || fatbin || lto || archive || is_type(PTX, data, size);
	}
	return 0;
}

static result add(handle *h, int type, const void *data, size_t size, const char *name)
{
	if (!h)
		return NULL_INPUT;
	if (h->done)
		return INTERNAL;
	if (!data || size == 0)
		return keep(h, INVALID_INPUT);
	result r = SUCCESS;
	char unnamed[32];
	snprintf(unnamed, sizeof unnamed, "<input %u>", ++h->inputs);
	const char *called = name && *name ? name : unnamed;
	/* Hosts count the NUL behind PTX or leave it out. */
	if (!is_type(type, data, size)) {
		r = complain(h, called, "is not of the type that nvJitLinkAddData was given", type == ANY ? UNRECOGNIZED_INPUT : INCORRECT_INPUT_TYPE);
	} else if (ptxlink_add(h->link, called, data, size) != PTXLINK_OK) {
		r = INTERNAL;
	} else if (is_type(PTX, data, size)) {
		/* Errors of one module are those of this call. */
		ptxlink_link *alone = ptxlink_link_create(linker);
		int code = alone && ptxlink_add(alone, called, data, size) == PTXLINK_OK && ptxlink_option(alone, "-r") == PTXLINK_OK && ptxlink_option(alone, h->arch) == PTXLINK_OK ? ptxlink_run(alone, PTXLINK_CHECK) : PTXLINK_MEMORY;
		if (code != PTXLINK_OK) {
			say(&h->log, ptxlink_text(alone));
			r = code == PTXLINK_REFUSED ? PTX_COMPILE : INTERNAL;
		}
		ptxlink_link_destroy(alone);
	}
	if (h->theirs && r == SUCCESS && h->real->add_data(h->theirs, type, data, size, name) != SUCCESS)
		h->real->destroy(&h->theirs); /* it cannot link instead */
	return keep(h, r);
}

static result add_file(handle *h, int type, const char *path)
{
	if (!h || !path)
		return NULL_INPUT;
	FILE *f = fopen(path, "rb");
	char *data = NULL;
	size_t size = 0, room = 0;
	int whole = 0;
	while (f && !whole && !ferror(f)) {
		if (size == room) {
			char *grown = realloc(data, room = 2 * room + (1 << 16));
			if (!grown)
				break;
			data = grown;
		}
		size += fread(data + size, 1, room - size, f);
		whole = feof(f) && !ferror(f);
	}
	result r = whole ? add(h, type, data, size, path) : keep(h, complain(h, path, "cannot be read", INVALID_INPUT));
	if (f)
		fclose(f);
	free(data);
	return r;
}

/* Links, and keeps a copy of the output. */
static result run(handle *h, int output, void **into, size_t *size)
{
	if (!h->inputs) { /* an empty module; the newest ptxas knows no GPU below sm_75 */
		char empty[100];
		int n = snprintf(empty, sizeof empty, ".version 6.3\n.target sm_%d\n.address_size 64\n", h->gpu < 75 ? h->gpu : 75);
		if (ptxlink_add(h->link, "<input 1>", empty, (size_t)n) != PTXLINK_OK)
			return INTERNAL;
		h->inputs++;
	}
	int code = ptxlink_run(h->link, output);
	if (code == PTXLINK_OK) {
		const void *made = ptxlink_output(h->link, size);
		if (!(*into = malloc(*size + 1)))
			return INTERNAL;
		memcpy(*into, made, *size);
		((char *)*into)[*size] = 0;
		say(&h->info, ptxlink_text(h->link));
		return SUCCESS;
	}
	say(&h->log, ptxlink_text(h->link));
	h->lacking = code != PTXLINK_REFUSED;
	if (code == PTXLINK_REFUSED && strstr(ptxlink_messages(h->link), "\"id\":\"ptxas-error\""))
		return PTX_COMPILE;
	return code == PTXLINK_USAGE ? UNRECOGNIZED_OPTION : INTERNAL; /* as for undefined symbols there */
}

static result complete(handle *h)
{
	if (!h)
		return NULL_INPUT;
	if (h->failed || h->done)
		return h->failed ? h->failed : INTERNAL;
	h->done = 1;
	h->failed = h->ptx ? run(h, PTXLINK_PTX, &h->text, &h->text_size) : run(h, PTXLINK_CUBIN, &h->cubin, &h->cubin_size);
	if (h->lacking && h->theirs) { /* NVIDIA's library has the tools inside */
		h->forwarded = 1;
		h->failed = h->real->complete(h->theirs);
	}
	return h->failed;
}

/* get answers for kind i of got. */
static result get(handle *h, int i, size_t *size, char *into)
{
	if (!h || (!size && !into))
		return NULL_INPUT;
	if (h->forwarded)
		return into ? h->real->get[i](h->theirs, into) : h->real->get_size[i](h->theirs, size);
	if (i == 1 && !h->text && h->done && !h->failed) { /* the real library has it for LTO-IR only */
		result r = run(h, PTXLINK_PTX, &h->text, &h->text_size);
		if (r != SUCCESS)
			return r;
	}
	const void *data[] = {h->cubin, h->text, h->log ? h->log : "", h->info ? h->info : "", NULL};
	/* Text has its NUL. */
	size_t sizes[] = {h->cubin_size, h->text_size + 1, strlen(data[2]) + 1, strlen(data[3]) + 1, 0};
	if (!data[i])
		return h->failed ? h->failed : INTERNAL;
	if (size)
		*size = sizes[i];
	else
		memcpy(into, data[i], sizes[i]);
	return SUCCESS;
}

static result version(unsigned *major, unsigned *minor)
{
	if (!major || !minor)
		return NULL_INPUT;
	*major = MAJOR;
	*minor = MINOR;
	return SUCCESS;
}

/* Every function has a name for each release, and one without. */
#define EXPORT __attribute__((visibility("default")))
#define FUNCTION(name, suffix, parameters, call) \
	EXPORT result name##suffix parameters; \
	result name##suffix parameters { return call; }
#define FUNCTIONS(prefix, suffix) \
	FUNCTION(prefix##Create, suffix, (handle * *h, uint32_t n, const char *const *o), create(h, n, o)) \
	FUNCTION(prefix##Destroy, suffix, (handle * *h), destroy(h)) \
	FUNCTION(prefix##AddData, suffix, (handle * h, int type, const void *data, size_t size, const char *name), add(h, type, data, size, name)) \
	FUNCTION(prefix##AddFile, suffix, (handle * h, int type, const char *path), add_file(h, type, path)) \
	FUNCTION(prefix##Complete, suffix, (handle * h), complete(h)) \
	FUNCTION(prefix##GetLinkedCubinSize, suffix, (handle * h, size_t *size), get(h, 0, size, NULL)) \
	FUNCTION(prefix##GetLinkedCubin, suffix, (handle * h, char *into), get(h, 0, NULL, into)) \
	FUNCTION(prefix##GetLinkedPtxSize, suffix, (handle * h, size_t *size), get(h, 1, size, NULL)) \
	FUNCTION(prefix##GetLinkedPtx, suffix, (handle * h, char *into), get(h, 1, NULL, into)) \
	FUNCTION(prefix##GetErrorLogSize, suffix, (handle * h, size_t *size), get(h, 2, size, NULL)) \
	FUNCTION(prefix##GetErrorLog, suffix, (handle * h, char *into), get(h, 2, NULL, into)) \
	FUNCTION(prefix##GetInfoLogSize, suffix, (handle * h, size_t *size), get(h, 3, size, NULL)) \
	FUNCTION(prefix##GetInfoLog, suffix, (handle * h, char *into), get(h, 3, NULL, into))

FUNCTIONS(nvJitLink, )
FUNCTION(nvJitLinkVersion, , (unsigned *major, unsigned *minor), version(major, minor))
#if MAJOR < 13
FUNCTIONS(__nvJitLink, _12_0)
FUNCTIONS(__nvJitLink, _12_1)
FUNCTIONS(__nvJitLink, _12_2)
FUNCTIONS(__nvJitLink, _12_3)
FUNCTIONS(__nvJitLink, _12_4)
FUNCTIONS(__nvJitLink, _12_5)
FUNCTIONS(__nvJitLink, _12_6)
FUNCTIONS(__nvJitLink, _12_7)
FUNCTIONS(__nvJitLink, _12_8)
FUNCTIONS(__nvJitLink, _12_9)
#else
#define FUNCTIONS_13(prefix, suffix) \
	FUNCTIONS(prefix, suffix) \
	FUNCTION(prefix##GetLinkedLTOIRSize, suffix, (handle * h, size_t *size), get(h, 4, size, NULL)) \
	FUNCTION(prefix##GetLinkedLTOIR, suffix, (handle * h, char *into), get(h, 4, NULL, into))
FUNCTION(nvJitLinkGetLinkedLTOIRSize, , (handle * h, size_t *size), get(h, 4, size, NULL))
FUNCTION(nvJitLinkGetLinkedLTOIR, , (handle * h, char *into), get(h, 4, NULL, into))
FUNCTIONS_13(__nvJitLink, _13_0)
FUNCTIONS_13(__nvJitLink, _13_1)
FUNCTIONS_13(__nvJitLink, _13_2)
FUNCTIONS_13(__nvJitLink, _13_3)
FUNCTIONS_13(__nvJitLink, _13_4)
FUNCTIONS_13(__nvJitLink, _13_5)
#endif
