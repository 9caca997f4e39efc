/* example OUT.ptx FILE...: links files of PTX. */
#include <stdio.h>

#include "ptxlink.h"

int main(int count, char **args)
{
	ptxlink *linker = ptxlink_create(NULL);
	ptxlink_link *link = ptxlink_link_create(linker);
	for (int i = 2; i < count; i++)
		ptxlink_add_file(link, args[i]); /* if it fails, ptxlink_run does */
	ptxlink_option(link, "-O1");
	int code = ptxlink_run(link, PTXLINK_PTX);
	fputs(ptxlink_text(link), stderr);
	size_t size;
	const void *ptx = ptxlink_output(link, &size);
	FILE *out = ptx ? fopen(args[1], "wb") : NULL;
	if (ptx && (!out || fwrite(ptx, 1, size, out) != size || fclose(out)))
		code = PTXLINK_IO;
	ptxlink_link_destroy(link);
	ptxlink_destroy(linker);
	return code;
}
