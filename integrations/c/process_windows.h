/* Processes, connections and locks of Windows, for ptxlink.c only. process_posix.h has the same functions. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

typedef SRWLOCK mutex;
typedef CONDITION_VARIABLE condition;

static void start_mutex(mutex *m) { InitializeSRWLock(m); }
static void end_mutex(mutex *m) { (void)m; }
static void lock(mutex *m) { AcquireSRWLockExclusive(m); }
static void unlock(mutex *m) { ReleaseSRWLockExclusive(m); }
static void start_condition(condition *c) { InitializeConditionVariable(c); }
static void end_condition(condition *c) { (void)c; }
static void wait_for(condition *c, mutex *m) { SleepConditionVariableSRW(c, m, INFINITE, 0); }
static void wake_all(condition *c) { WakeAllConditionVariable(c); }

/* There is no fork. */
typedef char owner;

static void start_owner(owner *o) { *o = 1; }
static int owns(owner *o) { return *o; }
static int inherited(owner *o) { return !*o; }
static void own(owner *o) { *o = 1; }

/* A running executable, and the pipes to it. */
struct server {
	HANDLE process; /* NULL if there is none */
	HANDLE to, from;
	DWORD patience; /* milliseconds */
};

static int is_running(const struct server *s) { return s->process != NULL; }

static void forget_server(struct server *s) { s->process = NULL; }

/* Makes the threads that read or write stop. */
static void disconnect(struct server *s)
{
	if (s->process)
		TerminateProcess(s->process, 1);
}

/* Ends the server, which ends when its input does. */
static void hang_up(struct server *s)
{
	if (!s->process)
		return;
	CloseHandle(s->to);
	CloseHandle(s->from);
	WaitForSingleObject(s->process, INFINITE);
	CloseHandle(s->process);
	s->process = NULL;
}

/* Reports whether the server has ended. */
static int has_ended(struct server *s) { return WaitForSingleObject(s->process, 0) == WAIT_OBJECT_0; }

/* Sets how many seconds receive waits for bytes before it kills the server; 0 means for ever. */
static void set_patience(struct server *s, int seconds) { s->patience = seconds ? (DWORD)seconds * 1000 : INFINITE; }

/* Reads or writes, as long as the server runs: another child of the host may have inherited the end of
 * the server, so that the pipe outlives it. */
static int transfer(struct server *s, HANDLE pipe, char *at, size_t size, DWORD patience)
{
	HANDLE either[2] = {CreateEventW(NULL, TRUE, FALSE, NULL), s->process};
	int ok = either[0] != NULL;
	while (ok && size) {
		OVERLAPPED state = {0};
		state.hEvent = either[0];
		DWORD n = 0, part = size < 1 << 20 ? (DWORD)size : 1 << 20; /* the kernel holds a copy */
		ok = pipe == s->to ? WriteFile(pipe, at, part, NULL, &state) : ReadFile(pipe, at, part, NULL, &state);
		if (!ok && GetLastError() != ERROR_IO_PENDING)
			break;
		DWORD what = ok ? WAIT_OBJECT_0 : WaitForMultipleObjects(2, either, FALSE, patience);
		if (what != WAIT_OBJECT_0)
			CancelIoEx(pipe, &state);
		if (what == WAIT_TIMEOUT)
			TerminateProcess(s->process, 1);
		ok = GetOverlappedResult(pipe, &state, &n, TRUE) && n > 0;
		at += n;
		size -= n;
	}
	if (either[0])
		CloseHandle(either[0]);
	return ok;
}

static int receive(struct server *s, void *into, size_t size) { return transfer(s, s->from, into, size, s->patience); }

static int transmit(struct server *s, const void *data, size_t size) { return transfer(s, s->to, (char *)data, size, INFINITE); }

/* Returns UTF-8 as UTF-16, to be freed, or NULL. */
static wchar_t *wide(const char *s)
{
	int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, s, -1, NULL, 0);
	wchar_t *w = n > 0 ? malloc((size_t)n * sizeof *w) : NULL;
	if (w)
		MultiByteToWideChar(CP_UTF8, 0, s, -1, w, n);
	return w;
}

/* Returns UTF-16 as UTF-8, to be freed, or NULL. */
static char *narrow(const wchar_t *w)
{
	int n = w ? WideCharToMultiByte(CP_UTF8, 0, w, -1, NULL, 0, NULL, NULL) : 0;
	char *s = n > 0 ? malloc((size_t)n) : NULL;
	if (s)
		WideCharToMultiByte(CP_UTF8, 0, w, -1, s, n, NULL, NULL);
	return s;
}

/* Returns a variable of the environment, to be freed, or NULL. */
static wchar_t *wide_variable(const wchar_t *name)
{
	wchar_t *value = NULL;
	DWORD room = 0, n;
	while ((n = GetEnvironmentVariableW(name, value, room)) >= room && n > 0) {
		free(value); /* another thread may change it */
		room = n;
		if (!(value = malloc(room * sizeof *value)))
			return NULL;
	}
	if (n == 0) {
		free(value);
		return NULL;
	}
	return value;
}

/* Returns a variable of the environment, "" if it is not set, or NULL without memory. */
static char *variable(const char *name)
{
	wchar_t *w = wide(name), *value = w ? wide_variable(w) : NULL;
	char *s = narrow(value ? value : L"");
	free(value);
	free(w);
	return s;
}

/* Returns the command line "executable serve", to be freed. A name without a directory is looked up on
 * PATH alone, while CreateProcess would begin with the working directory. */
static wchar_t *command_line(const char *executable)
{
	wchar_t *name = wide(executable), *path = wide_variable(L"PATH"), *line = NULL;
	wchar_t found[4096];
	DWORD n = 0;
	if (name && !wcspbrk(name, L"\\/:")) {
		n = SearchPathW(path ? path : L"", name, L".exe", sizeof found / sizeof *found, found, NULL);
		if (n == 0 || n >= sizeof found / sizeof *found)
			goto done;
	}
	const wchar_t *program = n ? found : name;
	/* The first argument ends at the next quote: nothing in it is escaped. */
	if (program && !wcschr(program, L'"') && (line = malloc((wcslen(program) + 9) * sizeof *line))) {
		wcscpy(line, L"\"");
		wcscat(line, program);
		wcscat(line, L"\" serve");
	}
done:
	if (!line)
		SetLastError(ERROR_FILE_NOT_FOUND);
	free(name);
	free(path);
	return line;
}

/* Creates a pipe. An anonymous one could not be waited for together with a process. Children inherit the
 * end of the server, and not ours. */
static int create_pipe(HANDLE *ours, HANDLE *theirs, int we_write)
{
	SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
	wchar_t name[80];
	LARGE_INTEGER now;
	QueryPerformanceCounter(&now);
	_snwprintf(name, sizeof name / sizeof *name, L"\\\\.\\pipe\\ptxlink-%lx-%llx-%p", (unsigned long)GetCurrentProcessId(), (unsigned long long)now.QuadPart, (void *)ours);
	HANDLE pipe = CreateNamedPipeW(name, (we_write ? PIPE_ACCESS_OUTBOUND : PIPE_ACCESS_INBOUND) | FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
		PIPE_TYPE_BYTE | PIPE_REJECT_REMOTE_CLIENTS, 1, 1 << 16, 1 << 16, 0, NULL);
	if (pipe == INVALID_HANDLE_VALUE)
		return 0;
	HANDLE end = CreateFileW(name, we_write ? GENERIC_READ : GENERIC_WRITE, 0, &inherit, OPEN_EXISTING, 0, NULL);
	if (end == INVALID_HANDLE_VALUE) {
		CloseHandle(pipe);
		return 0;
	}
	*ours = pipe;
	*theirs = end;
	return 1;
}

/* Runs the command line. The server gets these handles and no others that the host lets children inherit.
 * It has a console without a window: what it starts opens none, and it does not share Ctrl-C. */
static int create_process(struct server *s, wchar_t *line, HANDLE handles[3])
{
	SIZE_T size = 0;
	InitializeProcThreadAttributeList(NULL, 1, 0, &size);
	LPPROC_THREAD_ATTRIBUTE_LIST list = malloc(size);
	if (!list || !InitializeProcThreadAttributeList(list, 1, 0, &size)) {
		free(list);
		SetLastError(ERROR_NOT_ENOUGH_MEMORY);
		return 0;
	}
	STARTUPINFOEXW startup = {0};
	PROCESS_INFORMATION process;
	startup.StartupInfo.cb = sizeof startup;
	startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
	startup.StartupInfo.hStdInput = handles[0];
	startup.StartupInfo.hStdOutput = handles[1];
	startup.StartupInfo.hStdError = handles[2];
	startup.lpAttributeList = list;
	int ok = UpdateProcThreadAttribute(list, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles, (handles[2] ? 3 : 2) * sizeof *handles, NULL, NULL) &&
		CreateProcessW(NULL, line, NULL, NULL, TRUE, EXTENDED_STARTUPINFO_PRESENT | CREATE_NO_WINDOW, NULL, NULL, &startup.StartupInfo, &process);
	DWORD error = GetLastError();
	DeleteProcThreadAttributeList(list);
	free(list);
	if (ok) {
		CloseHandle(process.hThread);
		s->process = process.hProcess;
	}
	SetLastError(error);
	return ok;
}

static void close_handle(HANDLE *h)
{
	if (*h)
		CloseHandle(*h);
	*h = NULL;
}

/* Runs "executable serve", which is looked up on PATH. It returns an error number, or 0. */
static int start_server(struct server *s, const char *executable)
{
	HANDLE theirs[3] = {0}, self = GetCurrentProcess();
	wchar_t *line = command_line(executable);
	s->to = s->from = NULL;
	int ok = line && create_pipe(&s->to, &theirs[0], 1) && create_pipe(&s->from, &theirs[1], 0);
	if (ok && !DuplicateHandle(self, GetStdHandle(STD_ERROR_HANDLE), self, &theirs[2], 0, TRUE, DUPLICATE_SAME_ACCESS))
		theirs[2] = NULL; /* a host with a window has no standard error */
	ok = ok && create_process(s, line, theirs);
	int error = ok ? 0 : (int)GetLastError();
	for (int i = 0; i < 3; i++)
		close_handle(&theirs[i]);
	if (!ok) {
		close_handle(&s->to);
		close_handle(&s->from);
	}
	free(line);
	return error;
}

/* Appends what an error number means. */
static void append_error(struct text *t, int error)
{
	wchar_t w[512];
	DWORD n = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, (DWORD)error, 0, w, sizeof w / sizeof *w, NULL);
	while (n > 0 && (w[n - 1] == L'\n' || w[n - 1] == L'\r' || w[n - 1] == L'.'))
		n--;
	w[n] = 0;
	char *s = narrow(w);
	append_string(t, s && *s ? s : "it cannot be started");
	free(s);
}

/* Returns a path that does not depend on the working directory, or NULL without memory, when error is 0. */
static char *full_path(const char *path, int *error)
{
	*error = 0;
	wchar_t *w = wide(path), *full = NULL;
	DWORD n = w ? GetFullPathNameW(w, 0, NULL, NULL) : 0;
	if (n > 0 && (full = malloc(n * sizeof *full)) && GetFullPathNameW(w, n, full, NULL) >= n) {
		free(full); /* another thread changed the directory */
		full = NULL;
	}
	char *s = n > 0 ? narrow(full) : strdup(path); /* it cannot be opened, and the link says so */
	free(full);
	free(w);
	return s;
}
