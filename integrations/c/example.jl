# julia example.jl LIBPTXLINK OUT.ptx FILE...: links files of PTX.
using Libdl

library, out, files = ARGS[1], ARGS[2], ARGS[3:end]
const lib = dlopen(library)
call(name) = dlsym(lib, name)

linker = ccall(call(:ptxlink_create), Ptr{Cvoid}, (Cstring,), C_NULL)
link = ccall(call(:ptxlink_link_create), Ptr{Cvoid}, (Ptr{Cvoid},), linker)
for file in files
    ccall(call(:ptxlink_add_file), Cint, (Ptr{Cvoid}, Cstring), link, file)
end
code = ccall(call(:ptxlink_run), Cint, (Ptr{Cvoid}, Cint), link, 0)
print(stderr, unsafe_string(ccall(call(:ptxlink_text), Cstring, (Ptr{Cvoid},), link)))
if code == 0
    size = Ref{Csize_t}(0)
    ptx = ccall(call(:ptxlink_output), Ptr{UInt8}, (Ptr{Cvoid}, Ptr{Csize_t}), link, size)
    write(out, unsafe_wrap(Array, ptx, size[]))
end
ccall(call(:ptxlink_link_destroy), Cvoid, (Ptr{Cvoid},), link)
ccall(call(:ptxlink_destroy), Cvoid, (Ptr{Cvoid},), linker)
exit(code)
