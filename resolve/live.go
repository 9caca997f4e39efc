package resolve

import (
	"slices"

	"ptxlink/object"
	"ptxlink/object/ptx"
)

// Pull says why an archive member is linked.
type Pull struct {
	File   *object.File // the member
	Symbol string       // what it was needed for
	By     *object.File // who needed it first; nil for a name of the command line
}

// Live decides which archive members are linked, as mold and lld do: the order
// of archives and objects does not matter, that of archives among each other
// does.
//
//  1. An input that came out of no archive is live.
//  2. A live input that uses an external name which no live input defines makes
//     the first member that defines it live, .visible or .weak. A .common
//     definition pulls nothing in, nor does a declaration that nothing uses.
//  3. So do the names in roots (-u). System calls pull nothing in: the driver
//     has them.
//  4. This goes on until nothing changes.
//
// The result keeps command-line order.
func Live(files []*object.File, roots []string) (live []*object.File, pulls []Pull) {
	if !slices.ContainsFunc(files, func(f *object.File) bool { return f.Lazy }) {
		return files, nil
	}
	offers := map[string]*object.File{} // the first lazy member that defines a name
	for _, f := range files {
		if !f.Lazy {
			continue
		}
		for n, s := range f.Symbols {
			if s.Defined() && (s.Linkage == ptx.Visible || s.Linkage == ptx.Weak) && offers[f.Names[n]] == nil {
				offers[f.Names[n]] = f
			}
		}
	}
	defined := map[string]bool{}
	isLive := map[*object.File]bool{}
	var queue []*object.File
	add := func(f *object.File) {
		isLive[f] = true
		queue = append(queue, f)
		for n, s := range f.Symbols {
			if s.Exported() && s.Defined() {
				defined[f.Names[n]] = true
			}
		}
	}
	need := func(name string, by *object.File) {
		if f := offers[name]; f != nil && !defined[name] && !isLive[f] && !IsSyscall(name) {
			pulls = append(pulls, Pull{f, name, by})
			add(f)
		}
	}
	for _, f := range files {
		if !f.Lazy {
			add(f)
		}
	}
	for _, name := range roots {
		need(name, nil)
	}
	for len(queue) > 0 {
		f := queue[0]
		queue = queue[1:]
		for n, s := range f.Symbols {
			if s.Exported() && !s.Defined() && s.Uses > 0 {
				need(f.Names[n], f)
			}
		}
	}
	for _, f := range files {
		if isLive[f] {
			live = append(live, f)
		}
	}
	return live, pulls
}
