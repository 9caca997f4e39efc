// example OUT.ptx FILE...: example.c with objects that destroy themselves.
#include <cstdio>
#include <fstream>
#include <memory>

#include "ptxlink.h"

struct Destroy {
	void operator()(ptxlink *l) const { ptxlink_destroy(l); }
	void operator()(ptxlink_link *k) const { ptxlink_link_destroy(k); }
};

int main(int count, char **args)
{
	std::unique_ptr<ptxlink, Destroy> linker(ptxlink_create(nullptr));
	std::unique_ptr<ptxlink_link, Destroy> link(ptxlink_link_create(linker.get()));
	for (int i = 2; i < count; i++)
		ptxlink_add_file(link.get(), args[i]);
	int code = ptxlink_run(link.get(), PTXLINK_PTX);
	std::fputs(ptxlink_text(link.get()), stderr);
	std::size_t size;
	if (const void *ptx = ptxlink_output(link.get(), &size)) {
		std::ofstream out(args[1], std::ios::binary);
		out.write(static_cast<const char *>(ptx), static_cast<std::streamsize>(size));
		out.close();
		if (!out)
			code = PTXLINK_IO;
	}
	return code;
}
