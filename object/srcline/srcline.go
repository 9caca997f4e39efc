// Package srcline finds the lines of source code that places in PTX were compiled
// from, and adds them to messages.
package srcline

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

const maxSource = 16 << 20

// maxCalls limits the calls that are followed from an inlined line.
const maxCalls = 64

// Finder finds source lines. It reads each source file once, if it is there and a
// regular file.
type Finder struct {
	Spelling diag.Spelling
	Parse    bool // reads the modules that are not known
	// Recorded is set to call source files what the modules call them, and to read none, so
	// that places depend only on the modules.
	Recorded bool
	modules  map[*diag.Source]*module
	sources  map[string]*diag.Source
}

// module is a module with indexes that are made when they are needed.
type module struct {
	*ptx.Module
	files   map[int64]*ptx.File // by number
	callers *ptx.InlinedLines
	strings *ptx.Data        // .debug_str; nil if it cannot be read
	labels  map[string]int64 // in strings
	uses    []int32          // 1 + the index of the use of each name that firstUse returns

	declarations map[string]declaration // by symbol; nil until they are read
}

// Source returns the file and line that a place in a module was compiled from; "" if the
// module does not record it.
func (f *Finder) Source(at diag.Place) (file string, line int) {
	notes := f.lines(at)
	if len(notes) == 0 {
		return "", 0
	}
	file, line, _ = notes[0].Place.Position()
	return file, line
}

// Know adds a module.
func (f *Finder) Know(m *ptx.Module) {
	sets.Put(&f.modules, m.Src, &module{Module: m, callers: ptx.NewInlinedLines(m)})
}

// Explain adds the source lines of all places in a message, each after its place, unless they are
// the lines of the place before, and the text of source lines that it has. Messages that are notes
// stay as they are.
func (f *Finder) Explain(m *diag.Message) {
	if m.Kind == diag.Note {
		return
	}
	last := f.lines(m.Place)
	notes := slices.Clone(last)
	for _, n := range m.Notes {
		if path, line, column := n.Place.Position(); line > 0 && n.Role() == diag.SourcePlace && n.Place.Source.Text == nil {
			n.Place = f.inFile(m.Place.File(), &ptx.File{Path: path}, ptx.LocPlace{Line: int64(line), Column: int64(column)})
		}
		notes = append(notes, n)
		if lines := f.lines(n.Place); len(lines) > 0 && !slices.EqualFunc(lines, last, same) {
			notes = append(notes, lines...)
			last = lines
		}
	}
	m.Notes = notes
}

// Shared returns the source file of two places that were compiled from one line of it, or
// "" for other places.
func (f *Finder) Shared(a, b diag.Place) (file string) {
	file, line := f.Source(a)
	file2, line2 := f.Source(b)
	if line == 0 || line != line2 || file != file2 {
		return ""
	}
	return file
}

func same(a, b diag.Remark) bool {
	file, line, column := a.Place.Position()
	file2, line2, column2 := b.Place.Position()
	return a.Text == b.Text && file == file2 && line == line2 && column == column2
}

// lines returns notes with the source line of a place in a body. If it was inlined,
// the lines of the calls follow. Without .loc lines, and outside of bodies, it is the line that
// DWARF has for the function or variable. Without DWARF the head of a function gets its first .loc
// line, and a declaration the line of its first use.
func (f *Finder) lines(at diag.Place) (notes []diag.Remark) {
	m := f.module(at.Source)
	if m == nil || at.Span == (diag.Span{}) {
		return nil
	}
	d := declAround(m.Module, at.Span.Off)
	if d == nil {
		return nil
	}
	inBody := d.HasBody && d.Body.Off <= at.Span.Off && at.Span.Off < d.Body.End()
	if inBody {
		notes = f.bodyLines(m, d, at.Span.Off, "source line")
	}
	if len(notes) > 0 {
		return notes
	}
	if symbol := m.Names[d.Name]; len(m.Sections) > 0 {
		if place, ok := f.declared(m, symbol); ok {
			text := "source line of " + f.Spelling.Demangle(symbol)
			if inBody {
				text = "in " + f.Spelling.Demangle(symbol) + ", which starts at this source line"
			}
			return []diag.Remark{{Place: place, Text: text}}
		}
	}
	switch {
	case inBody:
	case d.HasBody:
		// The first line of all cannot be used, because what was inlined there may have it.
		first, end := m.LocsIn(d.Body)
		for _, loc := range m.Locs[first:end] {
			if loc.Inlining == nil {
				return f.bodyLines(m, d, loc.Span.Off, "source line")
			}
		}
	case d.Linkage == ptx.Extern:
		use := m.firstUse(d.Name)
		if user := declAround(m.Module, use); user != nil && user.HasBody {
			return f.bodyLines(m, user, use, "first used at this source line")
		}
	}
	return nil
}

// bodyLines returns the notes for an offset in a body with .loc lines; the text is for
// the line itself.
func (f *Finder) bodyLines(m *module, d *ptx.Decl, off int32, text string) (notes []diag.Remark) {
	first, end := m.LocsIn(d.Body)
	if first == end || len(m.Files) == 0 {
		return nil
	}
	_, behind := m.LocsIn(diag.Span{Len: off + 1})
	loc := m.numbered(first, end, max(first, behind-1)) // also before it, because the compiler loads parameters before the first line
	for len(notes) < maxCalls {
		l := &m.Locs[loc]
		in := f.Spelling.Demangle(m.Names[d.Name])
		if l.Inlining != nil {
			in = m.inlined(l.Inlining, f.Spelling)
		}
		place, ok := f.place(m, l.LocPlace)
		if !ok {
			return notes
		}
		notes = append(notes, diag.Remark{Place: place, Text: text + ", in " + in})
		if l.Inlining == nil {
			break
		}
		text = "inlined at this source line"
		next := m.callers.Caller(loc)
		if next < 0 {
			if place, ok := f.place(m, l.InlinedAt); ok {
				notes = append(notes, diag.Remark{Place: place, Text: text})
			}
			break
		}
		loc = next
	}
	return notes
}

func (f *Finder) module(src *diag.Source) *module {
	if src == nil {
		return nil
	}
	if f.modules[src] == nil && f.Parse && len(src.Text) > 0 {
		m, err := ptx.Parse(src)
		if err != nil {
			m = &ptx.Module{Src: src}
		}
		f.Know(m)
	}
	return f.modules[src]
}

// numbered returns the .loc with the line for code at one of those from first to end. Compilers write line 0
// for code that they moved or merged: as in llvm-symbolizer, it has the line before, or else the
// line after it.
func (m *module) numbered(first, end, loc int) int {
	for i := loc; i >= first; i-- {
		if m.Locs[i].Line > 0 {
			return i
		}
	}
	for i := loc; i < end; i++ {
		if m.Locs[i].Line > 0 {
			return i
		}
	}
	return loc
}

// firstUse returns the offset of the first use of a name, of those with a line if any use has one;
// -1 if nothing uses it.
func (m *module) firstUse(name ptx.NameID) int32 {
	if m.uses == nil {
		m.uses = make([]int32, len(m.Names))
		lined := make([]bool, len(m.Names))
		for i, u := range slices.Backward(m.Uses) {
			_, behind := m.LocsIn(diag.Span{Len: u.Off + 1})
			has := behind == 0 || m.Locs[behind-1].Line > 0
			if has || !lined[u.Name] {
				m.uses[u.Name], lined[u.Name] = int32(i+1), has
			}
		}
	}
	if i := m.uses[name]; i > 0 {
		return m.Uses[i-1].Off
	}
	return -1
}

// declAround returns the declaration that holds an offset; nil if none does.
func declAround(m *ptx.Module, off int32) *ptx.Decl {
	i := sort.Search(len(m.Decls), func(i int) bool { return m.Decls[i].Span.Off > off }) - 1
	if i < 0 || off >= max(m.Decls[i].Span.End(), m.Decls[i].Body.End()) {
		return nil
	}
	// Earlier declarations may be meant, because .global .u32 a, b; is two declarations with one
	// span.
	for i > 0 && m.Decls[i-1].Span == m.Decls[i].Span && m.Decls[i].Storage != nil && off < m.Decls[i].Declared.Off {
		i--
	}
	return &m.Decls[i]
}

// inlined returns the name of an inlined function, which .debug_str has.
func (m *module) inlined(in *ptx.Inlining, s diag.Spelling) string {
	if m.labels == nil {
		m.labels = map[string]int64{}
		if data, err := m.SectionData(".debug_str"); err == nil {
			m.strings = &data
			for _, l := range data.Labels {
				m.labels[l.Name] = l.Offset
			}
		}
	}
	off, ok := m.labels[m.Src.String(in.Function)]
	if off += in.Addend; ok && 0 <= off && off < int64(len(m.strings.Bytes)) {
		name, _, _ := bytes.Cut(m.strings.Bytes[off:], []byte{0})
		return s.Demangle(string(name))
	}
	return "an inlined function"
}

// place returns the place of a line in a source file. ok is false if the module does
// not declare the file.
func (f *Finder) place(m *module, loc ptx.LocPlace) (at diag.Place, ok bool) {
	if m.files == nil {
		m.files = map[int64]*ptx.File{}
		for i := range slices.Backward(m.Files) { // because the first of a number counts
			m.files[m.Files[i].Index] = &m.Files[i]
		}
	}
	file := m.files[loc.File]
	if file == nil || loc.Line <= 0 || file.Path == "" {
		return at, false
	}
	return f.inFile(m.Src.Name, file, loc), true
}

func (f *Finder) inFile(module string, file *ptx.File, loc ptx.LocPlace) diag.Place {
	src := &diag.Source{Name: file.Path}
	if !f.Recorded {
		src = f.source(file, module)
	}
	if line := src.LineSpan(int(loc.Line)); src.Text != nil && line.Len > 0 {
		return diag.At(src, narrow(src, line, loc.Column))
	}
	return diag.InFile(src.Name, int(loc.Line), int(loc.Column))
}

// narrow returns the span of the word at a column, which compilers count in bytes, or
// of the line without white space if the line has no such column.
func narrow(src *diag.Source, line diag.Span, column int64) diag.Span {
	text := src.Bytes(line)
	if column <= 0 || column > int64(len(text)) {
		trimmed := bytes.TrimSpace(text)
		return diag.Span{Off: line.Off + int32(bytes.Index(text, trimmed)), Len: max(1, int32(len(trimmed)))}
	}
	n := column - 1
	for n < int64(len(text)) && isWord(text[n]) {
		n++
	}
	return diag.Span{Off: line.Off + int32(column-1), Len: max(1, int32(n-column+1))}
}

func isWord(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// Find returns the first place of a word in the source files of a module, headers excluded, for which fits accepts
// the text before and after it. k.cu beside k.ptx or k.o is searched, too, because nvcc names no
// file without -lineinfo.
func (f *Finder) Find(m *ptx.Module, word string, fits func(before, after []byte) bool) diag.Place {
	stem, _, _ := strings.Cut(filepath.Base(m.Src.Name), ".")
	for _, file := range append(slices.Clip(m.Files), ptx.File{Path: stem + ".cu"}) {
		switch filepath.Ext(file.Path) {
		case ".cu", ".cpp", ".cc", ".cxx", ".c":
		default:
			continue
		}
		src := f.source(&file, m.Src.Name)
		for from := 0; word != ""; {
			n := bytes.Index(src.Text[from:], []byte(word))
			if n < 0 {
				break
			}
			at := from + n
			from = at + len(word)
			if fits(src.Text[:at], src.Text[from:]) {
				return diag.At(src, diag.Span{Off: int32(at), Len: int32(len(word))})
			}
		}
	}
	return diag.Place{}
}

// source returns a source file under the name that messages use: relative to the
// working directory if it is in there. Text is nil if the file cannot be read, or is not
// the one that was compiled. The directory of the module is tried, too, because compilers write
// names relative to their own directory.
func (f *Finder) source(file *ptx.File, module string) *diag.Source {
	key := fmt.Sprintf("%s\x00%s\x00%d", file.Path, filepath.Dir(module), file.Size)
	if src := f.sources[key]; src != nil {
		return src
	}
	name := strings.ReplaceAll(file.Path, `\\`, `\`) // because compilers escape it, and ptxas does not read escapes
	if filepath.IsAbs(name) {
		if dir, err := os.Getwd(); err == nil {
			if short, err := filepath.Rel(dir, name); err == nil && short != ".." && !strings.HasPrefix(short, ".."+string(filepath.Separator)) {
				name = short
			}
		}
	}
	src := &diag.Source{Name: name}
	for _, path := range []string{name, filepath.Join(filepath.Dir(module), name)} {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxSource || file.Size > 0 && info.Size() != file.Size {
			continue
		}
		if text, err := os.ReadFile(path); err == nil {
			src = &diag.Source{Name: path, Text: text}
			break
		}
	}
	sets.Put(&f.sources, key, src)
	return src
}
