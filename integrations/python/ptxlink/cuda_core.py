"""Linker takes the place of cuda.core.Linker, with ptxlink.

    >>> from ptxlink.cuda_core import Linker
    >>> Linker(a, b, options=LinkerOptions(arch="sm_80")).link("cubin")
"""

from __future__ import annotations

import os
from typing import Any, Iterable

from cuda.core import LinkerOptions, ObjectCode

import ptxlink

__all__ = ["Linker"]


class Linker:
    """Links ObjectCode as cuda.core.Linker does, of every type.

    PTX comes out of PTX too, and errors name the line: link raises ptxlink.LinkError. optimize is
    the level of -O, 0 to 2. Of the options, those for debug information and for floats have no
    effect: the object code decides.
    """

    def __init__(self, *object_codes: ObjectCode, options: LinkerOptions | dict[str, Any] | None = None, optimize: int = 0):
        if not object_codes:
            raise ValueError("no object code to link")
        for code in object_codes:
            if not isinstance(code, ObjectCode):
                raise TypeError(f"{code!r} is not an ObjectCode")
        if options is None or isinstance(options, dict):
            options = LinkerOptions(**(options or {}))
        if not isinstance(options, LinkerOptions):
            raise TypeError(f"options is a LinkerOptions, not {options!r}")
        self._codes, self._options, self._optimize = object_codes, options, optimize
        self._error, self._info, self._closed = "", "", False

    def link(self, target_type: str) -> ObjectCode:
        """Return the linked code. target_type is "cubin" or "ptx"."""
        if target_type not in ("cubin", "ptx"):
            raise ValueError(f"target_type is {target_type!r}, not 'cubin' or 'ptx'")
        if self._closed:
            raise RuntimeError("the linker is closed")
        try:
            r = ptxlink.link(self._inputs(), arch=_arch(self._options), output=target_type, optimize=self._optimize, options=_arguments(self._options, target_type))
        except ptxlink.LinkError as e:
            self._error = str(e)
            raise
        self._info = "\n".join(m.message for m in r.messages)
        name = self._options.name or ""
        return ObjectCode.from_ptx(r.ptx, name=name) if target_type == "ptx" else ObjectCode.from_cubin(r.cubin, name=name)

    def _inputs(self) -> list[Any]:
        return [
            (code.name or f"<{code.code_type}>", bytes(code.code)) if isinstance(code.code, (bytes, bytearray)) else os.fspath(code.code)
            for code in self._codes
        ]

    def get_error_log(self) -> str:
        """Return what the last link that failed says."""
        return self._error

    def get_info_log(self) -> str:
        """Return the warnings and notes of the last link."""
        return self._info

    def close(self) -> None:
        """End the use of the linker."""
        self._closed = True

    @property
    def is_closed(self) -> bool:
        return self._closed

    @classmethod
    def which_backend(cls) -> str:
        return "ptxlink"

    @property
    def backend(self) -> str:
        """The same, as before cuda-core 1.0."""
        return self.which_backend()


def _arch(options: LinkerOptions) -> str:
    arch = options.arch
    if not arch:
        from cuda.core import Device

        arch = "sm_" + "".join(map(str, Device().compute_capability))
    return arch if arch.startswith(("sm_", "compute_")) else "sm_" + arch


def _list(value: str | Iterable[str] | None) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else list(value)


def _arguments(options: LinkerOptions, target_type: str) -> list[str]:
    """The options of the command for those of a link."""
    args = [f"--kernels-used={name}" for name in _list(options.kernels_used)]
    if options.optimize_unused_variables:
        args.append("--gc-variables")
    if target_type == "cubin":
        if options.max_register_count is not None:
            args.append(f"-Xptxas=--maxrregcount={options.max_register_count}")
        if options.optimization_level is not None:
            args.append(f"-Xptxas=-O{options.optimization_level}")
        args += [f"-Xptxas={option}" for option in _list(options.ptxas_options)]
    return args
