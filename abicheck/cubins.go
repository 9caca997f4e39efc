package abicheck

import (
	"fmt"
	"strings"

	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// Cubins compares declarations of modules with the linked cubins, and cubins with each other: the
// kind of a symbol, the size of a variable, the types of a function.
func Cubins(t *resolve.Table, log *diag.Log) {
	for _, name := range t.Cubins.Names() {
		in, linked := t.Cubins.Definition(name)
		s, found := t.Lookup(name)
		if !linked || !found || s.Defined() && t.Strong(s.Def) && !in.Weak { // multiple definitions
			continue
		}
		for _, id := range s.Mentions {
			f := t.Files[id.File]
			if !(in.Entry && resolve.ListsKernel(f, id.Name)) && cubinDiffers(in, f, id.Name, log) {
				break
			}
		}
	}
	for _, use := range t.Cubins.Uses() {
		in, defined := t.Cubins.Definition(use.Name)
		s, found := t.Lookup(use.Name)
		here, there := object.Kind(use.CubinSymbol), object.Kind(in.CubinSymbol)
		switch {
		case defined && here != there:
			otherKind(here, in, use.Cubin.Place(), log)
		case defined && in.Prototype != "" && use.Prototype != "" && in.Prototype != use.Prototype:
			here, there := object.PrototypeText(use.Prototype), object.PrototypeText(in.Prototype)
			rule, text := diag.ParamType, fmt.Sprintf("%s is called here as %s but is %s in %s", log.Name(use.Name), here, there, fileOf(in))
			if here == there {
				rule, text = diag.ABIPreserve, fmt.Sprintf("%s preserves other registers here than in %s", log.Name(use.Name), fileOf(in))
			}
			log.Error(rule, use.Cubin.Place(), text).Of(use.Name).
				WithHelp("compile the two again, with one declaration")
		case defined && variableDiffers(in, use.Space, use.Size, use.Cubin.Place(), log):
		case found && s.Defined():
			cubinDiffers(use, t.Files[s.Def.File], s.Def.Name, log)
		}
	}
}

// cubinDiffers reports a declaration whose kind, size or types differ from the cubin's definition, or a
// definition that differs from the cubin's use.
func cubinDiffers(in resolve.CubinSymbol, f *object.File, id ptx.NameID, log *diag.Log) bool {
	d := f.DeclOf(id)
	if d == nil {
		return false
	}
	at := f.NamePlace(id)
	switch kind := object.Kind(in.CubinSymbol); {
	case d.Kind != kind:
		otherKind(d.Kind, in, at, log)
		return true
	case kind == ptx.Variable:
		return !(in.Common && d.Linkage == ptx.Common) && variableDiffers(in, strings.TrimPrefix(d.Space, "."), d.Size(), f.At(d.Declared), log)
	case kind == ptx.Func:
		return functionDiffers(in, d, at, log)
	}
	return kernelDiffers(in, d, at, log)
}

func fileOf(s resolve.CubinSymbol) string { return s.Cubin.Place().File() }

// variableDiffers reports a variable whose size or state space differs from the one in a cubin.
func variableDiffers(in resolve.CubinSymbol, space string, size int64, at diag.Place, log *diag.Log) bool {
	name, help := log.Name(in.Name), "declare it in one way in all modules, such as in a header"
	switch {
	case in.Function:
		return false
	case in.Space != "" && space != "" && in.Space != space:
		log.Error(diag.VarSpace, at, fmt.Sprintf("%s is in .%s here but in .%s in %s", name, space, in.Space, fileOf(in))).Of(in.Name).
			WithHelp(help)
	case in.Size > 0 && size > 0 && in.Size != size:
		log.Error(diag.VarSize, at, fmt.Sprintf("%s has %d bytes here but %d in %s", name, size, in.Size, fileOf(in))).Of(in.Name).
			WithHelp(help)
	default:
		return false
	}
	return true
}

// otherKind reports that a symbol is declared with another kind, such as a variable instead of a
// function.
func otherKind(here ptx.DeclKind, in resolve.CubinSymbol, at diag.Place, log *diag.Log) {
	log.Error(diag.SymbolKind, at, fmt.Sprintf("%s is %s here but %s in %s", log.Name(in.Name), here.A(), object.Kind(in.CubinSymbol).A(), fileOf(in))).Of(in.Name).
		WithHelp("declare it as it is defined, or rename one of the two")
}

// typeOf returns a type as prototypes of cubins have it; ok is false if that is not known.
func typeOf(t ptx.Type) (c ptx.Type, ok bool) {
	size := ptx.TypeSize(t.Word)
	if size == 0 || t.Vector > 0 || t.Array && (t.Unsized || t.Count < 0) {
		return c, false
	}
	c = ptx.Type{Word: t.Word, Array: t.Array}
	if t.Array {
		c.Count = t.Count
	}
	if t.Word != ".f32" && t.Word != ".f64" {
		c.Word = fmt.Sprintf(".b%d", 8*size)
	}
	return c, true
}

// functionDiffers reports a declaration of a module whose types differ from the types in a cubin. Any
// difference must be reported, even between .b32 and .f32, because nvlink refuses it.
func functionDiffers(in resolve.CubinSymbol, d *ptx.Decl, at diag.Place, log *diag.Log) bool {
	there, ok := object.ParsePrototype(in.Prototype)
	if d == nil || d.Signature == nil || !ok {
		return false
	}
	name, help := log.Name(in.Name), "nvlink compares the types: declare the function as it was compiled, or compile it again"
	for _, part := range []struct {
		what, verb  string
		here, there []ptx.Type
	}{{"result", "returns", d.Signature.Results, there.Results}, {"parameter", "takes", d.Signature.Params, there.Params}} {
		if len(part.here) != len(part.there) {
			log.Error(diag.ParamCount, at, fmt.Sprintf("%s has %s here but %s in %s", name, Plural(len(part.here), part.what), Plural(len(part.there), part.what), fileOf(in))).Of(in.Name).
				WithHelp(help)
			return true
		}
		for i, t := range part.here {
			ours, known := typeOf(t)
			theirs := part.there[i]
			if !known || ours == theirs {
				continue
			}
			rule := diag.ParamType
			switch {
			case ours.Array != theirs.Array:
				rule = diag.ParamShape
			case ours.Size() != theirs.Size():
				rule = diag.ParamSize
			}
			log.Error(rule, at, fmt.Sprintf("%s %s %s here but %s in %s", name, part.verb, beside(ours, theirs), beside(theirs, ours), fileOf(in))).Of(in.Name).
				WithHelp(help)
			return true
		}
	}
	return false
}

// kernelDiffers reports a declaration of a kernel whose parameters differ from the cubin that
// defines it, because nvlink does not compare them. A cubin that only uses a kernel does not record
// its parameters.
func kernelDiffers(in resolve.CubinSymbol, d *ptx.Decl, at diag.Place, log *diag.Log) bool {
	if d.Signature == nil || in.Params == nil {
		return false
	}
	name, help := log.Name(in.Name), "the launch would pass other bytes: declare the kernel as it was compiled, or compile it again"
	report := func(rule diag.ID, text string) bool {
		log.Error(rule, at, text+" in "+fileOf(in)).Of(in.Name).WithHelp(help)
		return true
	}
	if here, there := len(d.Signature.Params), len(in.Params); here != there {
		return report(diag.ParamCount, fmt.Sprintf("%s has %s here but %s", name, Plural(here, "parameter"), Plural(there, "parameter")))
	}
	end := int64(0)
	for i, t := range d.Signature.Params {
		there := in.Params[i]
		offset := (end + t.Alignment() - 1) / t.Alignment() * t.Alignment()
		switch {
		case t.Size() < 0 || t.Unsized || ptx.Opaque(t.Word):
			return false
		case t.Size() != int64(there.Size):
			return report(diag.ParamSize, fmt.Sprintf("%s takes %d bytes as parameter %d here but %d", name, t.Size(), i+1, there.Size))
		case offset != int64(there.Offset):
			return report(diag.ParamAlign, fmt.Sprintf("parameter %d of %s is at byte %d here but at byte %d", i+1, name, offset, there.Offset))
		}
		end = offset + t.Size()
	}
	return false
}

// beside returns a description of the type for a message that names another type, too. It gives the
// size if the sizes differ.
func beside(t, other ptx.Type) string {
	if t.Array && t.Size() != other.Size() {
		return fmt.Sprintf("%d bytes", t.Size())
	}
	return "a " + object.PrototypeType(t)
}
