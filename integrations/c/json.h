/* Strings that grow, and the JSON of the protocol: writes strings, finds values, decodes strings. For
 * ptxlink.c only. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
