package optimize

import (
	"iter"

	"ptxlink/object/ptx"
)

// Program is a linked program that has not been written yet. All names are output names. The lines
// of all inputs are numbered together, from 1.
type Program struct {
	Version     ptx.Version
	AddressSize int
	Functions   []Function // definitions of functions and entries, in the order of the output
	// Names are all module-scope names with the place of their first declaration: 2i+1 if
	// Functions[i] is the declaration, 2i if it is before Functions[i] and after the function
	// before.
	Names   map[string]int32
	Aliases []Alias
	// Uses are the names that variables and unknown statements use, once for each use.
	Uses []string
	// Described are the names that debug sections use: functions, labels, variables.
	Described map[string]bool
	// Prototypes returns the declarations of the functions that have no body.
	Prototypes func() *ptx.Module
	// Text is all text of the program, in parts that never split a name.
	Text iter.Seq[[]byte]
}

// Percent reports whether a name starts with %.
func (p *Program) Percent() bool {
	for name := range p.Names {
		if name[0] == '%' {
			return true
		}
	}
	return false
}

// Function is the definition of a function: a text of its own, or part of one.
type Function struct {
	Name    string
	Linkage ptx.Linkage // the linkage; the text need not have it
	Module  *ptx.Module // the module that it was read with
	Decl    *ptx.Decl   // in Module
	Kept    bool        // the host finds it by its name, so it must stay
	// Shift is added to the lines of Module to get their numbers.
	Shift int32
}

// Alias is .alias Name, Target. Target is a function.
type Alias struct{ Name, Target string }

// Result is the optimised program.
type Result struct {
	// Functions are the remaining functions, in order.
	Functions []Changed
	// Variables are added before the first function.
	Variables []Changed
	// Strings is text to add at the end of .debug_str.
	Strings string
	// Calls are the direct calls of defined functions, in the order of the program.
	Calls []Call
	// Dropped are the functions that were removed because all their calls are inlined.
	Dropped []string
	// Moved are the objects of functions that moved to module scope.
	Moved []Moved
	// Folded are the functions that another one with the same code replaces.
	Folded []Fold
}

// Changed is a function that may have changed, or a statement that was added.
type Changed struct {
	Index  int // in Program.Functions
	Module *ptx.Module
	Decl   *ptx.Decl
	// Lines has the number of each line of Module; nil if the function is unchanged.
	Lines []int32
}
