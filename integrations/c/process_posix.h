/* Processes, connections and locks of POSIX, for ptxlink.c only. process_windows.h has the same functions. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef pthread_mutex_t mutex;
typedef pthread_cond_t condition;

static void start_mutex(mutex *m) { pthread_mutex_init(m, NULL); }
static void end_mutex(mutex *m) { pthread_mutex_destroy(m); }
static void lock(mutex *m) { pthread_mutex_lock(m); }
static void unlock(mutex *m) { pthread_mutex_unlock(m); }
static void start_condition(condition *c) { pthread_cond_init(c, NULL); }
static void end_condition(condition *c) { pthread_cond_destroy(c); }
static void wait_for(condition *c, mutex *m) { pthread_cond_wait(c, m); }
static void wake_all(condition *c) { pthread_cond_broadcast(c); }

/* The process that uses a linker, or 0 while a child of fork takes it over. */
typedef atomic_long owner;

static void start_owner(owner *o) { atomic_init(o, (long)getpid()); }
static int owns(owner *o) { return atomic_load(o) == (long)getpid(); }

/* Reports whether the caller, a child of the owner, is to reset the linker and then call own. Other
 * threads wait here until it has. Each round loads the owner once: another thread may call own
 * between two loads, and would be reset. */
static int inherited(owner *o)
{
	long other;
	while ((other = atomic_load(o)) != (long)getpid())
		if (other != 0 && atomic_compare_exchange_strong(o, &other, 0))
			return 1;
	return 0;
}

static void own(owner *o) { atomic_store(o, (long)getpid()); }

/* A running executable, and the connection to it. */
struct server {
	pid_t pid; /* 0 if there is none */
	int socket;
};

static int is_running(const struct server *s) { return s->pid != 0; }

/* Drops what a child of fork has of the server of its parent. */
static void forget_server(struct server *s)
{
	if (s->pid)
		close(s->socket);
	s->pid = 0;
}

/* Makes the threads that read or write stop. */
static void disconnect(struct server *s)
{
	if (s->pid)
		shutdown(s->socket, SHUT_RDWR);
}

/* Ends the server, which ends when its input does, also if children of fork have the socket too. */
static void hang_up(struct server *s)
{
	if (!s->pid)
		return;
	disconnect(s);
	close(s->socket);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		; /* with SIGCHLD ignored there is nothing to wait for */
	s->pid = 0;
}

/* Reports whether the server has closed the connection. No answer may be due. */
static int has_ended(struct server *s)
{
	char byte;
	return recv(s->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* Sets how many seconds receive waits for bytes before it kills the server; 0 means for ever. */
static void set_patience(struct server *s, int seconds)
{
	struct timeval patience = {seconds, 0};
	setsockopt(s->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

static int receive(struct server *s, void *into, size_t size)
{
	for (char *at = into; size;) {
		ssize_t n = recv(s->socket, at, size, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			kill(s->pid, SIGKILL);
		if (n <= 0)
			return 0;
		at += n;
		size -= (size_t)n;
	}
	return 1;
}

static int transmit(struct server *s, const void *data, size_t size)
{
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* SO_NOSIGPIPE is set */
#endif
	for (const char *at = data; size;) {
		ssize_t n = send(s->socket, at, size, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		at += n;
		size -= (size_t)n;
	}
	return 1;
}

/* Runs "executable serve", which is looked up on PATH. It returns an error number, or 0. */
static int start_server(struct server *s, const char *executable)
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
	char *args[] = {(char *)executable, "serve", NULL};
	int failed = posix_spawnp(&s->pid, executable, &actions, &attributes, args, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	close(ends[1]);
	s->socket = ends[0];
	if (failed) {
		close(s->socket);
		s->pid = 0;
	}
	return failed;
}

/* Appends what an error number means. */
static void append_error(struct text *t, int error) { append_string(t, strerror(error)); }

/* Returns a copy of a variable of the environment, "" if it is not set, or NULL without memory. */
static char *variable(const char *name)
{
	const char *value = getenv(name);
	return strdup(value ? value : "");
}

/* Returns a path that does not depend on the working directory. If it returns NULL, error is an error
 * number, or 0 without memory. */
static char *full_path(const char *path, int *error)
{
	errno = ENOMEM;
	char *directory = *path == '/' ? strdup("") : getcwd(NULL, 0);
	*error = directory || errno == ENOMEM ? 0 : errno;
	struct text full = {0};
	append_string(&full, directory ? directory : "");
	append_string(&full, *path == '/' ? "" : "/");
	append_string(&full, path);
	int ok = directory && !full.failed;
	free(directory);
	if (ok)
		return full.data;
	free(full.data);
	return NULL;
}
