package container

// A package is an ar archive of PTX that describes its members: its last member,
// metaName, is text and holds one Record per line. docs/packages.md has the format.
const (
	metaName = "__.PTXMETA"
	// metaFirst is the first line of the body. The digest covers everything before
	// the first member, the index and the long names, and the records.
	metaFirst = `{"ptxlink-package":1,"index":"%x"}`
	metaMark  = `{"ptxlink-package":1,`
	// trailerSize is the length in bytes of the last line of the body, metaTrailer,
	// which gives the length of the body, so that a reader finds the body from the end of the file.
	trailerSize = 32
	metaTrailer = "{\"size\":%22d}\n"
)

// Record is what a package records of one of its members, so that a reader can tell
// whether it needs the member without reading it.
type Record struct {
	Name        string   `json:"name"`
	Offset      int64    `json:"offset"` // of the header of the member, in bytes of the file
	Size        int64    `json:"size"`   // bytes as stored, without padding
	SHA256      string   `json:"sha256"` // of the PTX text, in hexadecimal
	Bytes       int64    `json:"bytes"`  // of the PTX text
	OS          string   `json:"os,omitempty"`
	Arch        string   `json:"arch,omitempty"`
	Model       string   `json:"model,omitempty"` // lp64, llp64, ilp32
	AddressSize int      `json:"address_size,omitempty"`
	Version     string   `json:"version,omitempty"` // "8.0"
	Target      string   `json:"target,omitempty"`  // "sm_80"
	Producer    string   `json:"producer,omitempty"`
	Debug       bool     `json:"debug,omitempty"`
	Defines     []string `json:"defines,omitempty"` // external names, in order of the module
	Weak        []string `json:"weak,omitempty"`
	Common      []string `json:"common,omitempty"`
	Needs       []string `json:"needs,omitempty"` // external names that are used and not defined
}

// KeepHost copies the host that old records into the empty fields of r, unless r is for a different
// host.
func (r *Record) KeepHost(old Record) {
	if r.OS == "" {
		r.OS, r.Arch, r.Model = old.OS, old.Arch, old.Model
	} else if r.Arch == "" && r.OS == old.OS {
		r.Arch = old.Arch
	}
}
