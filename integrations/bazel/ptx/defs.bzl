"""Rules that compile and link PTX modules and package them as libraries.

See README.md in the parent directory.
"""

load("//ptx:archive.bzl", _ptx_archive = "ptx_archive")
load("//ptx:compile.bzl", _ptx_compile = "ptx_compile")
load("//ptx:cubin.bzl", _ptx_cubin = "ptx_cubin")
load("//ptx:info.bzl", _PtxInfo = "PtxInfo")
load("//ptx:library.bzl", _ptx_library = "ptx_library")
load("//ptx:link.bzl", _ptx_link = "ptx_link")
load("//ptx:toolchain.bzl", _ptx_toolchain = "ptx_toolchain")

PtxInfo = _PtxInfo
ptx_archive = _ptx_archive
ptx_compile = _ptx_compile
ptx_cubin = _ptx_cubin
ptx_library = _ptx_library
ptx_link = _ptx_link
ptx_toolchain = _ptx_toolchain
