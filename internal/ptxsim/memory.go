package ptxsim

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"sort"
	"strings"

	"ptxlink/internal/sets"
)

// Generic addresses. The address of a .global object is its generic address; the
// others are a window and an address in the state space (PTX ISA, Generic
// Addressing). Addresses in a window start at firstAddress, so that 0 is never valid.
const (
	localWindow  = 1 << 56
	sharedWindow = 2 << 56
	constWindow  = 3 << 56
	paramWindow  = 4 << 56
	codeWindow   = 5 << 56
	// Names that nothing defines have addresses here.
	missingWindow = 6 << 56
	globalWindow  = 0x40 << 56

	firstAddress = 1024
	redZone      = 64 // bytes between objects of a window
)

// space is a state space.
type space uint8

const (
	generic space = iota
	local
	shared
	constant
	param
	global
)

var spaceNames = [...]string{"", ".local", ".shared", ".const", ".param", ".global"}

func (s space) String() string { return spaceNames[s] }

// window returns the window of a space in generic addresses: its number is the upper byte.
func (s space) window() uint64 { return uint64(s%global) << 56 }

// spaceAt returns the state space of a generic address.
func spaceAt(addr uint64) space {
	if s := space(addr >> 56); s > generic && s < global {
		return s
	}
	return global
}

// window is a state space whose objects lie side by side.
type window struct {
	objects []*Object // sorted by address
	end     uint64
}

// alignedTo returns the first address from at that is a multiple of align, but not
// of 2*align: code that needs more alignment than was asked for must not work by
// chance.
func alignedTo(at uint64, align int64) uint64 {
	a := uint64(max(1, align))
	at = (at + a - 1) &^ (a - 1)
	if at&(2*a-1) == 0 {
		at += a
	}
	return at
}

// add places an object behind the others.
func (w *window) add(o *Object) {
	o.addr = alignedTo(max(w.end, firstAddress), o.align)
	w.end = o.addr + uint64(o.size) + redZone
	w.objects = append(w.objects, o)
}

// find returns the object that holds an address, or nil.
func (w *window) find(addr uint64) *Object {
	i := sort.Search(len(w.objects), func(i int) bool { return w.objects[i].addr > addr }) - 1
	if i < 0 || addr-w.objects[i].addr >= uint64(max(1, w.objects[i].size)) {
		return nil
	}
	return w.objects[i]
}

func hashOf(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64() ^ h.Sum64()>>32
}

// original returns a name without the number that the linker adds to rename it,
// so that addresses are the same before and after.
func original(name string) string {
	if s := strings.TrimRight(name, "0123456789"); len(s) < len(name) && len(s) > 1 && s[len(s)-1] == '$' {
		return s[:len(s)-1]
	}
	return name
}

// banked is a state space in which the place of an object depends on its name alone, unless two
// names have the same hash. An object takes one bank or several.
type banked struct {
	shift   int    // a bank has 1 << shift bytes
	first   uint64 // the number of the first bank
	count   uint64
	objects map[uint64]*Object // by bank
}

// place gives an object its address.
func (s *banked) place(o *Object) {
	n := uint64(o.size+2*max(firstAddress, o.align)) >> s.shift
	slot := hashOf(original(o.Name)) % s.count
	for k := uint64(0); k <= n; k++ {
		if s.objects[s.first+slot+k] != nil || slot+k >= s.count {
			slot, k = (slot+k+1)%s.count, ^uint64(0)
		}
	}
	o.addr = alignedTo((s.first+slot)<<s.shift+firstAddress, o.align)
	for k := range n + 1 {
		s.objects[s.first+slot+k] = o
	}
}

// at returns the object that holds an address, or nil.
func (s *banked) at(addr uint64) *Object {
	o := s.objects[addr>>s.shift]
	if o == nil || addr-o.addr >= uint64(o.size) {
		return nil
	}
	return o
}

// place places a global object.
func (m *Machine) place(o *Object) {
	m.global.place(o)
	m.Objects = append(m.Objects, o)
}

// objectAt returns the global object that holds an address, or nil.
func (m *Machine) objectAt(addr uint64) *Object {
	if o := m.global.at(addr); o != nil && !o.freed {
		return o
	}
	return nil
}

// pageSize is the size of the objects that Options.Sparse makes.
const pageSize = 256

// page returns the object of a global address that is in no other object.
func (m *Machine) page(addr uint64) *Object {
	base := addr &^ (pageSize - 1)
	o := m.pages[base]
	if o == nil {
		o = &Object{Name: fmt.Sprintf("0x%x", base), Space: ".global", Data: make([]byte, pageSize), addr: base, size: pageSize}
		sets.Put(&m.pages, base, o)
	}
	return o
}

// at returns the memory of an access, and the object if that is in .global.
func (t *thread) at(s space, addr uint64, size int, store bool) ([]byte, *Object) {
	if s == generic {
		s = spaceAt(addr)
		addr &^= s.window()
	}
	sparse := t.m.opt.Sparse && s == global
	if sparse {
		addr &^= uint64(size - 1)
	}
	if addr&uint64(size-1) != 0 {
		t.fail("%s of %d bytes at %s is misaligned", access(store), size, t.describe(s, addr))
	}
	if s == local {
		if base, n, ok := t.findLocal(addr); ok && addr-base+uint64(size) <= n {
			return t.local[addr : addr+uint64(size)], nil
		}
	}
	o := t.find(s, addr)
	if sparse && (o == nil || addr-o.addr+uint64(size) > uint64(len(o.Data))) {
		o = t.m.page(addr)
	}
	if o == nil {
		t.fail("%s of %d bytes at %s is outside all objects", access(store), size, t.describe(s, addr))
	}
	data := o.Data
	if s == shared {
		data = t.block.shared[o.addr:][:o.size]
	}
	off := addr - o.addr
	if off+uint64(size) > uint64(len(data)) {
		t.fail("%s of %d bytes at %s is outside %s, which has %d bytes", access(store), size, t.describe(s, addr), o.Name, len(data))
	}
	if store && s != global && s != shared {
		t.fail("store to %s, which is in %s", t.describe(s, addr), s)
	}
	if s != global {
		o = nil
	}
	return data[off : off+uint64(size)], o
}

// find returns the object in a state space other than .local that holds an address, or nil.
func (t *thread) find(s space, addr uint64) *Object {
	switch s {
	case global:
		return t.m.objectAt(addr)
	case shared:
		return t.block.findShared(addr)
	case constant:
		return t.m.constant.at(addr)
	case param:
		return t.m.params.find(addr)
	}
	return nil
}

func access(store bool) string {
	if store {
		return "store"
	}
	return "load"
}

// describe returns an address in words for messages.
func (t *thread) describe(s space, addr uint64) string {
	o, freed := t.find(s, addr), ""
	if s == global {
		if o = t.m.global.objects[addr>>32]; o != nil && o.freed {
			freed = "freed "
		}
	}
	if o != nil {
		return fmt.Sprintf("%s%s+%d", freed, o.Name, int64(addr-o.addr))
	}
	return fmt.Sprintf("%s 0x%x", s, addr)
}

// findLocal returns the object of a live frame, and its size, that holds an address
// in .local.
func (t *thread) findLocal(addr uint64) (base, size uint64, ok bool) {
	i := sort.Search(len(t.frames), func(i int) bool { return t.frames[i].base > addr }) - 1
	if i < 0 {
		return 0, 0, false
	}
	f := t.frames[i]
	off := addr - f.base
	for _, o := range f.fn.slots {
		if o.addressed && off >= uint64(o.off) && off < uint64(o.off)+uint64(max(1, o.size)) {
			return f.base + uint64(o.off), uint64(o.size), true
		}
	}
	for _, o := range f.dynamic {
		if addr >= o.off && addr < o.off+o.size {
			return o.off, o.size, true
		}
	}
	return 0, 0, false
}

func load(b []byte) uint64 {
	var v [8]byte
	copy(v[:], b)
	return binary.LittleEndian.Uint64(v[:])
}

func store(b []byte, v uint64) {
	copy(b, binary.LittleEndian.AppendUint64(nil, v))
}

// text returns the string at a generic address, up to its NUL.
func (t *thread) text(addr uint64) string {
	var s []byte
	for ; len(s) < 1<<16; addr++ {
		b, _ := t.at(generic, addr, 1, false)
		if b[0] == 0 {
			break
		}
		s = append(s, b[0])
	}
	return string(s)
}
