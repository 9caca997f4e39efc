package object

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ptxlink/object/diag"
)

// Host is the platform that a module was compiled for. Empty fields are
// unknown and match everything (PTX Interoperability 1.1: "we store info about
// the host platform in each object file").
type Host struct {
	OS    string // linux, windows, mac
	Arch  string // x86_64, aarch64, ppc64le
	Model string // lp64, llp64, ilp32: the sizes of int, long and pointers
}

// String returns "linux-x86_64", with "unknown" for empty fields.
func (h Host) String() string {
	return cmp.Or(h.OS, "unknown") + "-" + cmp.Or(h.Arch, "unknown")
}

// Or returns the host with its empty fields taken from another host.
func (h Host) Or(other Host) Host {
	if h.OS == "" {
		h.OS, h.Model = other.OS, other.Model
	}
	h.Arch = cmp.Or(h.Arch, other.Arch)
	return h
}

var hostWords = map[string]string{
	"linux": "linux", "windows": "windows", "win": "windows", "mac": "mac", "macos": "mac", "darwin": "mac",
	"x86_64": "x86_64", "amd64": "x86_64", "x64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64", "ppc64le": "ppc64le",
	"i386": "i386", "x86": "i386", "armv7": "armv7",
}

// architectures are the valid values of Host.Arch: the names of --host, and the
// machines of other ELF files.
var architectures = []string{"x86_64", "aarch64", "ppc64le", "i386", "armv7", "arm", "loongarch64", "ppc64", "riscv", "s390x"}

// valid reports whether each field is empty or a value that ptxlink writes, and
// whether they fit together.
func (h Host) valid() bool {
	if !slices.Contains([]string{"", "linux", "windows", "mac"}, h.OS) || h.Arch != "" && !slices.Contains(architectures, h.Arch) {
		return false
	}
	switch h.Model {
	case "", "ilp32":
		return true
	case "lp64":
		return h.OS != "windows"
	case "llp64":
		return h.OS == "windows" || h.OS == ""
	}
	return false
}

// ParseHost parses "linux-x86_64", "windows-arm64" or "linux". It derives the data
// model, since Windows has 32-bit long on 64-bit machines, the others 64-bit.
func ParseHost(s string) (Host, error) {
	var h Host
	os, arch, _ := strings.Cut(strings.ToLower(s), "-")
	h.OS, h.Arch = hostWords[os], hostWords[arch]
	if h.OS != "linux" && h.OS != "windows" && h.OS != "mac" || arch != "" && h.Arch == "" || h.Arch == h.OS {
		return Host{}, diag.New(diag.Usage, diag.Place{}, fmt.Sprintf("%q is not a host; write linux-x86_64, windows-x86_64, mac-aarch64 or the like", s))
	}
	switch {
	case h.Arch == "i386" || h.Arch == "armv7":
		h.Model = "ilp32"
	case h.OS == "windows":
		h.Model = "llp64"
	default:
		h.Model = "lp64"
	}
	return h, nil
}
