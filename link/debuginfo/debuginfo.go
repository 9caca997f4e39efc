// Package debuginfo, of use to this module only, merges the DWARF sections of several
// modules into one set of sections. It does not edit text: the caller provides the names
// and files, and the result is bytes and fixups.
package debuginfo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"ptxlink/internal/dies"
	"ptxlink/internal/parallel"
	"ptxlink/object"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// Module is an input with DWARF.
type Module struct {
	File *object.File
	// Files maps the .file indexes of the input to the indexes in the output.
	Files map[int64]int64
	// Name returns the output name of a name outside the sections, by its number in
	// File.SectionNames. The fate is Gone if the body was dropped and differs from the kept one;
	// the name is then the function that was kept, if there is one. A name that the module does not
	// declare is Unknown.
	Name func(number int32) (string, Fate)
	// Lines keeps only .debug_str, because the .loc lines refer to the names of inlined functions
	// there.
	Lines bool

	sections map[string]*ptx.Data
	units    []*unit // of .debug_info
	types    []*unit // of .debug_types
	layouts  map[string]*layout
	shapes   map[*dies.Abbrev]int64 // for an abbreviation, its latest form in the output
	// shapeList holds the forms that abbreviations have in the output.
	shapeList []*dies.Abbrev
	strings   map[string]int64 // labels of .debug_str
	once      sync.Once        // sets strings
	shared    bool             // units share a list of .debug_loc or .debug_ranges
	moving    bool             // an expression of .debug_loc refers to DIEs
}

// isGone reports whether a fixup, which may be nil, names something in a dropped
// body.
func (m *Module) isGone(f *ptx.Fixup) bool {
	if f == nil || f.Name < 0 {
		return false
	}
	_, fate := m.Name(f.Name)
	return fate != Kept
}

// Fate is the state of a name in the output.
type Fate uint8

const (
	Unknown Fate = iota
	Kept
	Gone
)

// Section is one merged section. Texts are its text, in parts, and Size is the number of
// bytes that they describe.
type Section struct {
	Name  string
	Size  int64
	Texts []string
}

// Merge merges the sections of all modules, in order:
//
//  1. All units share one abbreviation table at offset 0, because ptxas reads
//     every unit with the table at 0 and ignores the offset in its header.
//  2. Units get the codes of that table. File numbers follow the merged .file
//     table; an attribute whose form is too small gets a larger one.
//  3. Offsets into .debug_info, .debug_loc, .debug_str and similar sections move
//     with their targets, also in expressions.
//  4. References to a dropped body become tombstones: address 0, or 1 in lists,
//     where a pair of zeros would end the list. In a pair, both addresses do.
//
// A module whose sections cannot be read or moved loses its debug information
// with a warning, and keeps its lines. Merge then omits it from the second result,
// like a module with Lines set. Sections of unknown kinds are dropped with a
// warning.
//
// Modules are read in parallel, at most jobs at a time. Merge returns the error of
// the context.
func Merge(ctx context.Context, modules []*Module, jobs int, log *diag.Log) (sections []Section, kept []*Module, err error) {
	w, kept, err := prepare(ctx, modules, jobs, log)
	if err != nil {
		return nil, nil, err
	}
	sections, err = w.merge(ctx, jobs)
	return sections, kept, err
}

func prepare(ctx context.Context, modules []*Module, jobs int, log *diag.Log) (w *merger, kept []*Module, err error) {
	w = &merger{table: abbrevTable{codes: map[string]uint64{}}}
	logs, usable := log.Split(len(modules)), make([]bool, len(modules))
	err = parallel.Each(ctx, len(modules), jobs, func(i int) string { return "debug information of " + modules[i].File.Name }, func(i int) {
		usable[i] = !modules[i].Lines && modules[i].usable(ctx, &logs[i])
		modules[i].File.DropText()
	})
	if err != nil {
		return nil, nil, err
	}
	for i, m := range modules {
		log.Append(&logs[i])
		switch {
		case usable[i]:
			kept = append(kept, m)
			w.modules = append(w.modules, m)
		case m.lines():
			w.modules = append(w.modules, m)
		}
	}
	return w, kept, ctx.Err()
}

// usable reads the module and prepares it for the merge, and warns about dropped
// parts.
func (m *Module) usable(ctx context.Context, log *diag.Log) bool {
	if !m.Check(ctx, log) {
		return false
	}
	if err := m.prepare(ctx); ctx.Err() != nil {
		return false
	} else if err != nil {
		m.warn(log, m.located(err))
		return false
	}
	m.warnLeftOut(log)
	return true
}

// lines keeps only the strings that .loc lines refer to, and reports whether there
// are any.
func (m *Module) lines() bool {
	m.sections, m.layouts = nil, nil
	m.units, m.types = nil, nil
	data, err := m.File.SectionData(".debug_str")
	if err != nil || len(data.Bytes) == 0 || len(data.Fixups) > 0 {
		return false
	}
	for i := range m.File.Locs {
		if m.File.Locs[i].Inlining != nil {
			m.sections = map[string]*ptx.Data{".debug_str": &data}
			m.layouts = map[string]*layout{".debug_str": {data: &data}}
			return true
		}
	}
	return false
}

// Check reads the sections of the module, warns if they cannot be used, and reports
// whether they can. If the context ends, it returns false without a warning.
func (m *Module) Check(ctx context.Context, log *diag.Log) bool {
	err := m.read(ctx)
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		m.warn(log, err)
	}
	return err == nil
}

func (m *Module) warn(log *diag.Log, err *ptx.Error) {
	log.Warn(diag.DebugDropped, m.File.At(err.Span), "debug information of this module is dropped: "+err.Text)
}

// located adds to an error the span of the item that it is about.
func (m *Module) located(err *dies.Error) *ptx.Error {
	span := m.File.SectionSpan(err.Section, err.Offset)
	if span.Len == 0 {
		span = m.File.Sections[0].Span
	}
	return &ptx.Error{Span: span, Text: err.Error()}
}

func (m *Module) warnLeftOut(log *diag.Log) {
	var names []string
	var first diag.Span
	for _, s := range m.File.Sections {
		if m.sections[s.Name] == nil || m.layouts[s.Name] != nil || len(names) < 4 && slices.Contains(names, s.Name) {
			continue
		}
		if names = append(names, s.Name); len(names) == 1 {
			first = s.Span
		}
	}
	if len(names) > 3 {
		names = append(names[:3], "...")
	}
	if len(names) > 0 {
		log.Warn(diag.DebugDropped, m.File.At(first), "sections of this module are dropped because their offsets cannot be moved: "+strings.Join(names, ", "))
	}
}

// read reads the sections of the module and checks them, because ptxas crashes on
// invalid sections.
func (m *Module) read(ctx context.Context) *ptx.Error {
	var err *ptx.Error
	if m.sections, err = m.File.AllSections(".debug_line", ".debug_frame"); err != nil { // ptxas writes these itself
		return err
	}
	for i := range m.File.Sections {
		data := m.sections[m.File.Sections[i].Name]
		if data == nil {
			continue
		}
		// clang calls a private string .str here and _$_str in the code, and rustc's tables of
		// methods have another number here, or are not in the code. Such fixups must be dropped,
		// since nothing has their names; ptxas writes address 0 for them.
		data.Fixups = slices.DeleteFunc(data.Fixups, func(f ptx.Fixup) bool {
			if f.Name >= 0 {
				_, fate := m.Name(f.Name)
				return fate == Unknown && strings.HasPrefix(f.Target, "__unnamed_")
			}
			return m.sections[f.Target] == nil && !strings.HasPrefix(f.Target, ".debug_")
		})
		for _, f := range data.Fixups {
			to := m.sections[f.Target]
			switch {
			case f.Name >= 0:
				if _, fate := m.Name(f.Name); fate == Unknown {
					return &ptx.Error{Span: f.Span, Text: fmt.Sprintf("nothing in the module is called %s", f.Target)}
				}
			case f.Target == ".debug_line": // ptxas writes it
			case to == nil:
				return &ptx.Error{Span: f.Span, Text: "the module has no section " + f.Target}
			case f.Addend > int64(len(to.Bytes)):
				return &ptx.Error{Span: f.Span, Text: f.String() + " lies outside its section"}
			}
		}
	}
	var fault *dies.Error
	var abbrevs []byte
	if data := m.sections[".debug_abbrev"]; data != nil {
		abbrevs = data.Bytes
	}
	tables := dies.NewTables(abbrevs)
	if m.units, fault = readUnits(ctx, m.sections[".debug_info"], tables); fault == nil {
		m.types, fault = readUnits(ctx, m.sections[".debug_types"], tables)
	}
	if fault != nil {
		return m.located(fault)
	}
	return nil
}

// String returns the place of the name of an inlined function: label+addend of the
// input as an offset into the merged .debug_str. ok is false if the module has no
// such label there, or the place lies outside. String may be called concurrently.
func (m *Module) String(label string, addend int64) (expression string, ok bool) {
	l := m.layouts[".debug_str"]
	if l == nil {
		return "", false
	}
	m.once.Do(func() {
		m.strings = map[string]int64{".debug_str": 0}
		for _, label := range l.data.Labels {
			m.strings[label.Name] = label.Offset
		}
	})
	offset, ok := m.strings[label]
	if end := int64(len(l.data.Bytes)); !ok || addend < 0 || addend > end-offset {
		return "", false
	}
	return ptx.Fixup{Target: ".debug_str", Name: -1, Addend: l.at(offset + addend)}.String(), true
}
