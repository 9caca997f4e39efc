package ptx

import "ptxlink/object/diag"

// Metadata is a .metadata_section: the events of trace.mark, and what OpenCL records of kernels. No edition of the
// PTX ISA describes it; testdata/script/metadata.txtar says what ptxas does.
type Metadata struct {
	Domain diag.Span // .metadata_domain 1; empty if there is none
	Nodes  []MetadataNode
}

// MetadataNode is `.metadata 3 { "association_record", .metadata_label "L", .metadata_index 1 }`.
type MetadataNode struct {
	Span   diag.Span
	Number MetadataItem
	Items  []MetadataItem
}

// MetadataForm is the form of an item.
type MetadataForm uint8

const (
	MetadataText   MetadataForm = iota // "dom"
	MetadataNumber                     // .b32 1
	MetadataIndex                      // .metadata_index 1: an earlier node
	MetadataLabel                      // .metadata_label "L": declares what trace.mark names
)

// MetadataItem is an item of a node. Span covers the number, or the text between the quotes.
type MetadataItem struct {
	Form  MetadataForm
	Span  diag.Span
	Value int64 // of a number
}

// Kind returns the text that a node begins with, or "".
func (m *Module) Kind(n MetadataNode) string {
	if len(n.Items) == 0 || n.Items[0].Form != MetadataText {
		return ""
	}
	return m.Src.String(n.Items[0].Span)
}

// Metadata reads an unknown statement. ok is false if it is not a .metadata_section, or has a form
// that ptxas 13.5 refuses.
func (m *Module) Metadata(o Other) (meta Metadata, ok bool) {
	c := newCursor(m.Src.Text[:o.Span.End()], o.Span.Off)
	if !c.isWord(".metadata_section") {
		return meta, false
	}
	c.next()
	c.need('{')
	if from := int32(c.at); c.isWord(".metadata_domain") {
		c.next()
		c.needInteger("a number")
		meta.Domain = c.from(from)
	}
	for c.Err == nil && !c.accept('}') {
		meta.Nodes = append(meta.Nodes, c.metadataNode())
	}
	return meta, c.Err == nil
}

func (c *cursor) metadataNode() (n MetadataNode) {
	from := int32(c.at)
	if !c.isWord(".metadata") {
		c.expected(".metadata")
		return n
	}
	c.next()
	n.Number.Value, n.Number.Span = c.needInteger("a number")
	c.need('{')
	for c.Err == nil {
		n.Items = append(n.Items, c.metadataItem())
		if !c.accept(',') {
			break
		}
	}
	c.need('}')
	n.Span = c.from(from)
	return n
}

func (c *cursor) metadataItem() (item MetadataItem) {
	if c.is('.') {
		word, t := c.word()
		switch word {
		case ".metadata_index":
			item.Form = MetadataIndex
		case ".metadata_label":
			item.Form = MetadataLabel
		default:
			item.Form = MetadataNumber
		}
		c.pass(t)
	}
	if item.Form == MetadataIndex || item.Form == MetadataNumber {
		item.Value, item.Span = c.needInteger("a number")
		return item
	}
	t := c.token()
	if t.Kind != String {
		c.expected("a text in quotes")
		return item
	}
	c.pass(t)
	item.Span = diag.Span{Off: t.Off + 1, Len: t.End - t.Off - 2}
	return item
}
