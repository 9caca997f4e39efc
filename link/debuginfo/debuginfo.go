// Package debuginfo merges the DWARF sections of several modules into one set of
// sections. It touches no text: what it needs to know of names and files it is
// told, and it answers with bytes and fixups.
package debuginfo

import (
	"fmt"

	"ptxlink/internal/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
)

// Module is one input that carries DWARF.
type Module struct {
	File *object.File
	// Files leads from the .file index of the input to that of the output.
	Files map[int64]int64
	// Name is what a name outside the sections is called in the output. The name
	// may have no place there (the body it stands in was dropped): Gone. A name
	// that nothing in the module declares is Unknown.
	Name func(symbol string) (string, Fate)

	sections map[string]*ptx.Data
	bases    map[string]int64 // where the sections of this module start in the output
	units    []*unit
	start    map[int64]int64 // .debug_info offset of a DIE or unit, to that in the output
	macro    map[int64]int64 // likewise for .debug_macinfo
}

// Fate says what became of a name.
type Fate uint8

const (
	Unknown Fate = iota
	Kept
	Gone
)

// Section is one merged section: bytes, and the fixups into them. A fixup's
// Symbol is an output name.
type Section struct {
	Name   string
	Bytes  []byte
	Fixups []ptx.Fixup
}

// Merge merges the sections of all modules, in order:
//
//  1. One abbreviation table at offset 0 serves all units, because ptxas reads
//     every unit with the table at 0, whatever its header says.
//  2. Every unit is written again with the new codes. File numbers follow the
//     merged .file table; an attribute whose form is too small gets a larger one.
//  3. Offsets into .debug_info, .debug_loc, .debug_str and the like move with
//     what they point to.
//  4. What described a dropped body is tombstoned: address 0, and 1 in lists,
//     where a pair of zeros would end the list.
//
// A module whose sections cannot be read loses its debug information with a
// warning, and keeps its lines; Merge then leaves it out of the second result.
func Merge(modules []*Module, log *diag.Log) (sections []Section, kept []*Module) {
	for _, m := range modules {
		if m.Check(log) {
			kept = append(kept, m)
		}
	}
	if len(kept) == 0 {
		return nil, nil
	}
	w := &merger{modules: kept, table: newAbbrevTable()}
	return w.merge(), kept
}

// Check reads the sections of the module and warns if they cannot be used.
func (m *Module) Check(log *diag.Log) bool {
	err := m.read()
	if err != nil {
		log.Warn(diag.DebugDropped, m.File.At(err.Span), "debug information of this module is dropped: "+err.Text)
	}
	return err == nil
}

// read reads the sections of the module and checks them: ptxas crashes on what
// it does not expect.
func (m *Module) read() *ptx.Error {
	m.sections = map[string]*ptx.Data{}
	for i := range m.File.Sections {
		name := m.File.Sections[i].Name
		if m.sections[name] != nil || name == ".debug_line" || name == ".debug_frame" {
			continue // ptxas makes these itself
		}
		data, err := m.File.SectionData(name)
		if err != nil {
			return err
		}
		if len(data.Bytes) > 0 {
			m.sections[name] = &data
		}
	}
	for _, data := range m.sections {
		for _, f := range data.Fixups {
			if f.Section == "" {
				if _, fate := m.Name(f.Symbol); fate == Unknown {
					return &ptx.Error{Span: f.Span, Text: fmt.Sprintf("nothing in the module is called %s", f.Symbol)}
				}
			} else if f.Section != ".debug_line" && m.sections[f.Section] == nil {
				return &ptx.Error{Span: f.Span, Text: "the module has no section " + f.Section}
			}
		}
	}
	info := m.sections[".debug_info"]
	if info == nil {
		return nil
	}
	units, err := readUnits(info, m.sections[".debug_abbrev"])
	if err != nil {
		span := m.File.SectionSpan(".debug_info", err.offset)
		if span.Len == 0 {
			span = m.File.Sections[0].Span
		}
		return &ptx.Error{Span: span, Text: err.Error()}
	}
	m.units = units
	return nil
}

// String is where a .loc finds the name of an inlined function: label+addend of
// the input as an offset into the merged .debug_str. ok is false if the module
// has no such label there.
func (m *Module) String(label string, addend int64) (expression string, ok bool) {
	data := m.sections[".debug_str"]
	if data == nil {
		return "", false
	}
	offset := addend
	if label != ".debug_str" {
		for _, l := range data.Labels {
			if l.Name == label {
				offset, ok = l.Offset+addend, true
			}
		}
		if !ok {
			return "", false
		}
	}
	return ptx.Fixup{Section: ".debug_str", Addend: offset + m.bases[".debug_str"]}.String(), true
}
