/* Links PTX modules, in memory.
 *
 *     ptxlink *linker = ptxlink_create(NULL);
 *     ptxlink_link *link = ptxlink_link_create(linker);
 *     ptxlink_add(link, "a.ptx", text, size);
 *     ptxlink_add_file(link, "libb.a");
 *     if (ptxlink_run(link, PTXLINK_PTX) == PTXLINK_OK)
 *             use(ptxlink_output(link, &size));
 *     else
 *             puts(ptxlink_text(link));
 *     ptxlink_link_destroy(link);
 *     ptxlink_destroy(linker);
 *
 * The library starts the ptxlink executable, which answers many requests (ptxlink serve). It has
 * no global state, handles no signals and starts no threads. Several threads may use one linker,
 * each with links of its own. After fork, a linker starts an executable for the child with its
 * next link. On Windows, paths and names are UTF-8.
 *
 * The link keeps the first failure of ptxlink_add, ptxlink_add_file and ptxlink_option: ptxlink_run
 * returns it, and ptxlink_text says why. ptxlink_create and ptxlink_link_create return NULL without
 * memory. All functions accept that, and ptxlink_run then returns PTXLINK_MEMORY.
 */
#ifndef PTXLINK_H
#define PTXLINK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A DLL is built with PTXLINK_EXPORTS; programs link to it, and to a static library, without. */
#if !defined PTXLINK_API && defined _WIN32 && defined PTXLINK_EXPORTS
#define PTXLINK_API __declspec(dllexport)
#elif !defined PTXLINK_API && defined _WIN32
#define PTXLINK_API
#elif !defined PTXLINK_API
#define PTXLINK_API __attribute__((visibility("default")))
#endif

typedef struct ptxlink ptxlink;           /* a linker */
typedef struct ptxlink_link ptxlink_link; /* one link, with its inputs and its result */

/* Results. Those that are not negative are the exit codes of the executable. */
enum {
	PTXLINK_OK = 0,
	PTXLINK_REFUSED = 1,     /* the inputs cannot be linked */
	PTXLINK_USAGE = 2,       /* an option or an argument is wrong */
	PTXLINK_IO = 3,          /* a file cannot be read, or ptxas is not found */
	PTXLINK_CANCELLED = 130, /* by ptxlink_cancel */
	PTXLINK_MEMORY = -1,     /* there is no memory */
	PTXLINK_SERVER = -2      /* the executable cannot be started, or has ended; ptxlink_text says why */
};

/* Outputs. A cubin and a fatbin need the option --arch=sm_NN, and ptxas. */
enum { PTXLINK_PTX, PTXLINK_CUBIN, PTXLINK_FATBIN, PTXLINK_CHECK /* only checks */ };

/* Returns a linker, or NULL without memory. executable is a path, or a name to look up on PATH;
 * NULL means $PTXLINK, or else ptxlink. It is started by the first link. */
PTXLINK_API ptxlink *ptxlink_create(const char *executable);

/* Ends the executable. No link of the linker may run; links are destroyed separately. */
PTXLINK_API void ptxlink_destroy(ptxlink *linker);

/* Returns a link without inputs, or NULL without memory. */
PTXLINK_API ptxlink_link *ptxlink_link_create(ptxlink *linker);

PTXLINK_API void ptxlink_link_destroy(ptxlink_link *link);

/* Adds an input: PTX, or an object, archive, fatbin, cubin or LTO-IR. Members of archives are linked if
 * they are needed. Messages call it by its name; the second of one name is called "a.ptx#2". The data is
 * copied. */
PTXLINK_API int ptxlink_add(ptxlink_link *link, const char *name, const void *data, size_t size);

/* Adds a file, which messages call by its absolute path. A relative path is PTXLINK_IO if the working
 * directory cannot be found. */
PTXLINK_API int ptxlink_add_file(ptxlink_link *link, const char *path);

/* Adds an option of the command line, such as "--arch=sm_80" or "-O1". */
PTXLINK_API int ptxlink_option(ptxlink_link *link, const char *option);

/* Links, and returns a result. It may be called again, for another output too. */
PTXLINK_API int ptxlink_run(ptxlink_link *link, int output);

/* Ends a link that another thread runs: ptxlink_run returns PTXLINK_CANCELLED, or its result if that
 * was ready. */
PTXLINK_API void ptxlink_cancel(ptxlink_link *link);

/* What follows is that of the last ptxlink_run, and valid until the next or until
 * ptxlink_link_destroy. */

/* Returns the output, and its size in bytes without the NUL behind it; NULL if there is none. */
PTXLINK_API const void *ptxlink_output(const ptxlink_link *link, size_t *size);

/* Returns errors, warnings and notes as text, with lines of the inputs. */
PTXLINK_API const char *ptxlink_text(const ptxlink_link *link);

/* Returns the same as a JSON array; docs/errors.md describes its objects. */
PTXLINK_API const char *ptxlink_messages(const ptxlink_link *link);

/* Returns the name of the input that a line of the linked PTX comes from, and the line there; NULL for
 * lines of the linker. Lines count from 1. */
PTXLINK_API const char *ptxlink_origin(const ptxlink_link *link, size_t line, size_t *input_line);

#ifdef __cplusplus
}
#endif
#endif
