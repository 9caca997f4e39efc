package program

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// ParseVersion reads a version that the command line asks for, such as "7.8". It returns the zero
// version for the empty string. The error is a *diag.Message.
func ParseVersion(text string) (v ptx.Version, err error) {
	if text == "" {
		return v, nil
	}
	major, minor, ok := strings.Cut(text, ".")
	if ok {
		if v.Major, err = strconv.Atoi(major); err == nil {
			v.Minor, err = strconv.Atoi(minor)
		}
	}
	if !ok || err != nil || v.Major < 1 || v.Major > 99 || v.Minor < 0 || v.Minor > 99 {
		return v, diag.New(diag.Usage, diag.Place{}, fmt.Sprintf("%q is not a version of PTX, such as 7.8", text))
	}
	return v, nil
}

// localVolatile is the first version with ld.volatile.local and st.volatile.local. Before it,
// nothing in .local could be volatile, and nothing had to be, because only one thread sees it.
var localVolatile = ptx.Version{Major: 9, Minor: 1}

// lowerVolatile adds edits that remove .volatile from accesses of .local in a body, because an
// older version of the output does not have it.
func (pl *planner) lowerVolatile(edits []ptx.Edit, f *object.File, d *ptx.Decl) []ptx.Edit {
	if !pl.Header.Version.Less(localVolatile) || f.Version.Less(localVolatile) || !bytes.Contains(f.Src.Bytes(d.Body), []byte("volatile")) {
		return edits
	}
	f.Opcodes(d, func(opcode string, words []diag.Span) bool {
		opcode += "."
		if strings.HasPrefix(opcode, "ld.volatile.local.") || strings.HasPrefix(opcode, "st.volatile.local.") {
			edits = append(edits, ptx.Edit{Span: words[1]})
		}
		return true
	})
	return edits
}

// choose sets the version of the output to Options.Version. It warns about a lower one, because only ptxas
// knows the versions of targets, directives and instructions.
func (h *Header) choose(v ptx.Version, log *diag.Log) {
	if v.Less(h.Version) {
		log.Warn(diag.Lowered, h.versionFile.At(h.versionFile.VersionSpan), fmt.Sprintf("the version of the output is lowered from %s, which this module has, to %s", h.Version, v)).
			WithHelp("ptxas reports what PTX " + v.String() + " lacks")
	}
	h.Version = v
}
