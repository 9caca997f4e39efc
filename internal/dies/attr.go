package dies

import "debug/dwarf"

// Spec is an attribute of an abbreviation.
type Spec struct {
	At       dwarf.Attr
	Form     uint64
	Implicit int64 // of FormImplicit
}

// Attr is an attribute. Its value is at bytes Off to End of the section.
type Attr struct {
	Spec
	Start    int64 // of the form, if DW_FORM_indirect puts it here; else Off
	Off, End int64
	Value    uint64 // of constants, references and offsets; of blocks, the length
}

// Forms.
const (
	FormAddr        = 0x01
	FormBlock2      = 0x03
	FormBlock4      = 0x04
	FormData2       = 0x05
	FormData4       = 0x06
	FormData8       = 0x07
	FormString      = 0x08
	FormBlock       = 0x09
	FormBlock1      = 0x0a
	FormData1       = 0x0b
	FormFlag        = 0x0c
	FormSdata       = 0x0d
	FormStrp        = 0x0e
	FormUdata       = 0x0f
	FormRefAddr     = 0x10
	FormRef1        = 0x11
	FormRef2        = 0x12
	FormRef4        = 0x13
	FormRef8        = 0x14
	FormRefUdata    = 0x15
	FormIndirect    = 0x16
	FormSecOffset   = 0x17
	FormExprloc     = 0x18
	FormFlagPresent = 0x19
	FormStrx        = 0x1a
	FormAddrx       = 0x1b
	FormRefSup4     = 0x1c
	FormStrpSup     = 0x1d
	FormData16      = 0x1e
	FormLineStrp    = 0x1f
	FormRefSig8     = 0x20
	FormImplicit    = 0x21
	FormLoclistx    = 0x22
	FormRnglistx    = 0x23
	FormRefSup8     = 0x24
	FormStrx1       = 0x25
	FormStrx2       = 0x26
	FormStrx3       = 0x27
	FormStrx4       = 0x28
	FormAddrx1      = 0x29
	FormAddrx2      = 0x2a
	FormAddrx3      = 0x2b
	FormAddrx4      = 0x2c
)

// IsUnitRef reports whether the value is a reference from the start of the unit.
func (a *Attr) IsUnitRef() bool { return a.Form >= FormRef1 && a.Form <= FormRefUdata }

// IsBlock reports whether the value is a block: its Value last bytes.
func (a *Attr) IsBlock() bool {
	switch a.Form {
	case FormExprloc, FormBlock, FormBlock1, FormBlock2, FormBlock4:
		return true
	}
	return false
}

// IsConstant reports whether the value is a number.
func (a *Attr) IsConstant() bool {
	switch a.Form {
	case FormData1, FormData2, FormData4, FormData8, FormSdata, FormUdata, FormImplicit:
		return true
	}
	return false
}

func (r *Reader) attribute(u *Unit, s *Spec, a *Attr) {
	a.Spec, a.Start, a.Off = *s, r.At, r.At
	if s.Form == FormIndirect {
		a.Form = r.Uleb()
		if a.Form == FormIndirect || a.Form == FormImplicit {
			r.Fail("form 0x%x behind DW_FORM_indirect", a.Form)
		}
		a.Off = r.At
	}
	switch a.Form {
	case FormAddr:
		r.Skip(uint64(u.AddrSize))
	case FormBlock1:
		a.Value = r.Uint(1)
		r.Skip(a.Value)
	case FormBlock2:
		a.Value = r.Uint(2)
		r.Skip(a.Value)
	case FormBlock4:
		a.Value = r.Uint(4)
		r.Skip(a.Value)
	case FormBlock, FormExprloc:
		a.Value = r.Uleb()
		r.Skip(a.Value)
	case FormData1, FormRef1, FormFlag, FormStrx1, FormAddrx1:
		a.Value = r.Uint(1)
	case FormData2, FormRef2, FormStrx2, FormAddrx2:
		a.Value = r.Uint(2)
	case FormStrx3, FormAddrx3:
		a.Value = r.Uint(3)
	case FormData4, FormRef4, FormStrp, FormSecOffset, FormLineStrp, FormStrx4, FormAddrx4, FormRefSup4, FormStrpSup:
		a.Value = r.Uint(4)
	case FormData8, FormRef8, FormRefSig8, FormRefSup8:
		a.Value = r.Uint(8)
	case FormData16:
		r.Skip(16)
	case FormString:
		r.CString()
	case FormSdata:
		a.Value = uint64(r.Sleb())
	case FormUdata, FormRefUdata, FormStrx, FormAddrx, FormLoclistx, FormRnglistx:
		a.Value = r.Uleb()
	case FormRefAddr:
		a.Value = r.Uint(u.RefAddrSize())
	case FormImplicit:
		a.Value = uint64(s.Implicit)
	case FormFlagPresent:
	default:
		r.Fail("form 0x%x is not known", a.Form)
	}
	a.End = r.At
}
