package pack

import (
	"fmt"

	"ptxlink/link"
	"ptxlink/object"
)

// objectInputs names inputs as link.Link does.
func objectInputs(inputs []link.Input) []object.Input {
	list := make([]object.Input, len(inputs))
	for i, in := range inputs {
		if in.Name == "" && in.Path == "" {
			in.Name = fmt.Sprintf("<input %d>", i+1)
		}
		list[i] = object.Input{Name: in.Name, Path: in.Path, Text: in.Text, Reader: in.Reader, Whole: in.WholeArchive}
	}
	return list
}
