package optimize

import (
	"strings"

	"ptxlink/object/ptx"
)

// view is the code of a function in which some locals have other names, by their index.
// Members of a range keep their number.
type view struct {
	*ptx.Code
	names map[int32]string
}

// asWritten returns the view in which all locals have their names.
func asWritten(c *ptx.Code) view { return view{Code: c} }

// renamed returns the new name of the local that a token refers to, or "" if the name does not
// change.
func (v view) renamed(token int32) string {
	local, ok := v.Reference(int(token)).Local()
	if !ok || v.names[local] == "" {
		return ""
	}
	t, l := v.Tokens[token], &v.Locals[local]
	if l.Count < 0 || t.Role() == ptx.Declares {
		return v.names[local]
	}
	return v.names[local] + string(v.Text(t)[l.Name.Len:])
}

// spell returns the text of some tokens without white space between them.
func (v view) spell(first, end int32) string {
	var b strings.Builder
	for i := first; i < end; i++ {
		if name := v.renamed(i); name != "" {
			b.WriteString(name)
		} else {
			b.Write(v.Text(v.Tokens[i]))
		}
	}
	return b.String()
}

// guard returns the predicate of a statement with a space after it, or "".
func (v view) guard(st ptx.Statement) string {
	if !st.Guarded() {
		return ""
	}
	return v.spell(st.First, st.Op) + " "
}

// register returns the name, the width in bits and the class ('b', 'u', 's', 'f' or 'p')
// of a register. ok is false for all other operands.
func (v view) register(o ptx.Operand) (name string, bits int64, class byte, ok bool) {
	if o.Shape != ptx.NameOperand {
		return "", 0, 0, false
	}
	i, ok := v.Reference(int(o.First)).Local()
	if !ok || v.Locals[i].Type.Space != ".reg" || v.Locals[i].Type.Vector != 0 {
		return "", 0, 0, false
	}
	word := v.Locals[i].Type.Word
	return v.spell(o.First, o.End), 8 * ptx.TypeSize(word), ptx.TypeClass(word), true
}

// rename returns the edits that give locals their new names. It skips the declarations of removed
// locals, since edits cannot overlap.
func (v view) rename(removed map[int32]bool) (edits []edit) {
	if len(v.names) == 0 {
		return nil
	}
	for i, t := range v.Tokens {
		if name := v.renamed(int32(i)); name != "" {
			if local, _ := v.Reference(i).Local(); !removed[local] || t.Role() != ptx.Declares {
				edits = append(edits, edit{span: t.Span(), text: name})
			}
		}
	}
	for _, list := range v.TargetRanges {
		var targets []string
		renamed := false
		for _, target := range list.Targets {
			local, ok := target.Local()
			switch id, global := target.Name(); {
			case global:
				targets = append(targets, v.Module.Names[id])
			case ok && v.names[local] != "":
				targets = append(targets, v.names[local])
				renamed = true
			case ok:
				targets = append(targets, v.Module.Src.String(v.Locals[local].Name))
			}
		}
		if renamed {
			edits = append(edits, edit{span: list.Span, text: strings.Join(targets, ", ")})
		}
	}
	return edits
}
