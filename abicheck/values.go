package abicheck

import (
	"bytes"
	"fmt"

	"ptxlink/internal/sets"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// Values warns where a caller passes a float and the function takes an integer, or the reverse, and both are .b32 or
// .b64 in the prototypes. A mangled name does not tell the type of the result. Compilers say what a value is where
// they store or load it (st.param.f32), except LLVM 20 and later, whose registers have no types.
func Values(t *resolve.Table, log *diag.Log) {
	c := checker{t: t, log: log}
	seen := make([]int32, len(t.Symbols)) // by symbol: the last file whose call was compared, plus 1
	for i, f := range t.Files {
		for n := range f.Calls {
			call := &f.Calls[n]
			if call.Use < 0 {
				continue
			}
			id := object.ID{File: int32(i), Name: f.Uses[call.Use].Name}
			s := t.Of(id)
			if s == resolve.None || seen[s] == id.File+1 {
				continue
			}
			seen[s] = id.File + 1
			callee := t.Main(id)
			def := side{t.Files[callee.File], c.declOf(callee)}
			if callee.File != id.File && def.decl != nil && def.decl.HasBody && call.Signature.Len() == def.decl.Signature.Len() && !f.HandWritten() && !def.file.HandWritten() {
				c.values(f, call, def)
			}
		}
	}
}

func (c *checker) values(f *object.File, call *ptx.Call, def side) {
	signature := def.decl.Signature
	results := len(signature.Results)
	code, body := around(f.Src.Text, call.Span), def.file.Src.Bytes(def.decl.Body)
	for i := range signature.Len() {
		if !scalar(signature.At(i)) || !scalar(call.Signature.At(i)) {
			continue
		}
		here, there := f.Src.Text[call.Span.Off:call.Target.Off], def.file.Src.Text[def.decl.Header.Off:def.decl.NameSpan.Off]
		what, n := "the result", i
		if i >= results {
			here, there = f.Src.Text[call.Target.End():call.Span.End()], def.file.Src.Text[def.decl.NameSpan.End():def.decl.Header.End()]
			what, n = "a parameter", i-results
		}
		x, y := accessed(code, inList(here, n)), accessed(body, inList(there, n))
		if x == "" || y == "" || x == y || x != float && y != float || x == bits && !typed(f) || y == bits && !typed(def.file) {
			continue
		}
		if x != float {
			x, y = integer, float
		} else {
			y = integer
		}
		if i >= results {
			what = fmt.Sprintf("parameter %d", n+1)
		}
		name := def.file.Names[def.decl.Name]
		c.log.Warn(diag.ABI, f.At(call.Target), fmt.Sprintf("%s of %s is %s here but %s %s", what, c.log.Name(name), x, y, def.where())).Of(name).
			Note(def.at(def.decl.NameSpan), def.note()).
			WithHelp("compile both modules with one declaration of it")
	}
}

func scalar(t *ptx.Type) bool {
	return t.Space == ".param" && !t.Array && t.Vector == 0 && (t.Word == ".b32" || t.Word == ".b64")
}

// around returns the block in braces that compilers write around a call, for its arguments and results.
func around(text []byte, call diag.Span) []byte {
	const most = 1 << 12
	from, to := max(0, int(call.Off)-most), min(len(text), int(call.End())+most)
	if at := bytes.LastIndexByte(text[from:call.Off], '{'); at >= 0 {
		from += at
	}
	if at := bytes.IndexByte(text[call.End():to], '}'); at >= 0 {
		to = int(call.End()) + at
	}
	return text[from:to]
}

// inList returns the name that ends piece n of a list in parentheses.
func inList(text []byte, n int) []byte {
	text = text[bytes.IndexByte(text, '(')+1:]
	for range n {
		text = text[bytes.IndexByte(text, ',')+1:]
	}
	if end := bytes.IndexAny(text, ",)"); end >= 0 {
		text = text[:end]
	}
	text = bytes.TrimSpace(text)
	return text[bytes.LastIndexAny(text, " \t")+1:]
}

// What a parameter is stored or loaded as. Bits are an integer if the compiler gives registers types.
const float, integer, bits = "a float", "an integer", "bits"

// accessed returns as what a text stores or loads a parameter, or "" if it does not, or in several ways.
func accessed(text, param []byte) (kind string) {
	for len(param) > 0 {
		at := bytes.Index(text, param)
		if at < 0 {
			return kind
		}
		end := at + len(param)
		if at > 0 && text[at-1] == '[' && end < len(text) && (text[end] == '+' || text[end] == ']') {
			found := kindOf(text[bytes.LastIndexAny(text[:at], ";{}\n")+1 : at])
			if found == "" || kind != "" && found != kind {
				return ""
			}
			kind = found
		}
		text = text[end:]
	}
	return ""
}

// kindOf returns as what an instruction stores or loads a parameter.
func kindOf(instruction []byte) string {
	opcode := bytes.TrimLeft(instruction, " \t")
	if end := bytes.IndexAny(opcode, " \t"); end >= 4 {
		switch string(opcode[end-4 : end]) {
		case ".f32", ".f64":
			return float
		case ".u32", ".s32", ".u64", ".s64":
			return integer
		case ".b32", ".b64":
			return bits
		}
	}
	return ""
}

func typed(f *object.File) bool { return typedAccess().Match(f.Src.Text) }

var typedAccess = sets.Regexp(`\.reg \.f(32|64)|ld\.param\.(u32\s+%r\d|u64)`)
