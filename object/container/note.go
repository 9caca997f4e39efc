package container

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
)

// noteSection and noteOwner name the note of a linker in a cubin (ELF, "Note Section"). Tools of
// NVIDIA skip sections that they do not know.
const noteSection, noteOwner = ".note.ptxlink", "ptxlink"

// AddNote returns a finished cubin with a note that says what made it. The note, the names and the
// headers of the sections follow the sections, so that these stay where they are. A cubin of 32
// bits, one without names of sections, or one with more sections than its header can count, stays
// as it is.
func AddNote(cubin []byte, text string) []byte {
	const headerSize = 64
	f, fault := tryELF(cubin)
	if fault != nil || !f.wide || f.order != binary.ByteOrder(le) || f.stride != headerSize || len(f.names) == 0 {
		return cubin
	}
	names := uint64(le.Uint16(cubin[0x3e:]))
	if names >= f.count || f.count+1 >= uint64(elf.SHN_LORESERVE) {
		return cubin
	}
	headers := bytes.Clone(cubin[f.sections:][:headerSize*f.count])
	header := headers[headerSize*names:]
	pool := bytes.Clone(f.names)
	out := bytes.Clone(cubin)
	align := func(n int) { out = append(out, make([]byte, -len(out)&(n-1))...) }

	align(4)
	at := len(out)
	out = le.AppendUint32(out, uint32(len(noteOwner)+1))
	out = le.AppendUint32(out, uint32(len(text)))
	out = le.AppendUint32(out, 1)
	out = append(out, noteOwner+"\x00"+text...)
	align(4)
	own := make([]byte, headerSize)
	le.PutUint32(own, uint32(len(pool)))
	le.PutUint32(own[4:], uint32(elf.SHT_NOTE))
	le.PutUint64(own[24:], uint64(at))
	le.PutUint64(own[32:], uint64(len(out)-at))
	le.PutUint64(own[48:], 4)

	le.PutUint64(header[24:], uint64(len(out)))
	pool = append(pool, noteSection+"\x00"...)
	le.PutUint64(header[32:], uint64(len(pool)))
	out = append(out, pool...)
	align(8)
	le.PutUint64(out[0x28:], uint64(len(out)))
	le.PutUint16(out[0x3c:], uint16(f.count+1))
	return append(append(out, headers...), own...)
}

// Makers returns what made a cubin, by its notes: the linker first, then the tools of NVIDIA, each with its options. CUDA before
// 12.8 writes no notes.
func (c Cubin) Makers() (list []string) {
	f, err := openCubin(c.Data)
	if err != nil {
		return nil
	}
	for _, name := range []string{noteSection, ".note.nv.tkinfo"} {
		s := f.named(name)
		if s == nil {
			continue
		}
		for data := f.contents(*s); len(data) >= 12; {
			owner, size := int64(le.Uint32(data)), int64(le.Uint32(data[4:]))
			from := 12 + (owner+3)&^3
			if from+size > int64(len(data)) {
				break
			}
			text := data[from:][:size]
			if name != noteSection {
				text = toolInfo(text)
			}
			if len(text) > 0 {
				list = append(list, string(text))
			}
			data = data[min(int64(len(data)), from+(size+3)&^3):]
		}
	}
	return list
}

// toolInfo reads the note of a tool of NVIDIA: six numbers of 32 bits, and text after them. The
// last four numbers are the places of the tool's name, version, build and options in the text.
func toolInfo(note []byte) []byte {
	const texts = 24
	if len(note) < texts {
		return nil
	}
	var parts []string
	for _, n := range []int{2, 3, 5} {
		at := int64(binary.LittleEndian.Uint32(note[4*n:]))
		if texts+at >= int64(len(note)) {
			return nil
		}
		word, _, _ := bytes.Cut(note[texts+at:], []byte{0})
		parts = append(parts, strings.TrimSpace(string(word)))
	}
	return []byte(parts[0] + " (" + parts[1] + ") " + parts[2])
}
