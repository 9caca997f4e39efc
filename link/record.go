package link

import (
	"strconv"

	"ptxlink/object"
)

// record adds the comment at the start of the output that describes its inputs. fatbinary
// 12.4 blanks the first line of a module, so that line has no information; the rest
// survives and is read back.
func (pl *planner) record() {
	const digest = "\n   " + object.MetaDigest + "="
	h, host := pl.checked.header, pl.checked.host
	b := make([]byte, 0, 256)
	b = append(b, "// Linked by ptxlink\n"+object.MetaMark+" address_size="...)
	b = strconv.AppendInt(b, int64(h.addressSize), 10)
	for _, field := range [][2]string{{"os", host.OS}, {"arch", host.Arch}, {"model", host.Model}} {
		if field[1] != "" {
			b = append(b, " "+field[0]+"="+field[1]...)
		}
	}
	for _, f := range pl.table.Files {
		for _, d := range f.Digests {
			b = append(append(b, digest...), d...)
		}
	}
	pl.own(string(append(b, " */\n"...)))
}
