package report

import "strconv"

// GPU holds the resources that the kernels and functions of a cubin use. Package ptxas makes it.
type GPU struct {
	Arch   string  `json:"arch"`
	Usages []Usage `json:"usages"` // the largest first
}

// Usage is the resources of the GPU that a kernel or function needs.
type Usage struct {
	Name      string `json:"name"`
	Demangled string `json:"demangled,omitempty"` // in a GPU, if the name is mangled
	Kernel    bool   `json:"kernel"`
	Registers int    `json:"registers"` // 0 if they are unknown
	Stack     int64  `json:"stack"`     // bytes per thread of the deepest call; -1 if it is unknown, as with recursion
	Shared    int64  `json:"shared"`    // bytes of static shared memory
	Constant  int64  `json:"constant"`  // bytes of parameters and of the driver's data before them
	Code      int64  `json:"code"`      // bytes of machine code
	// Spills are the spills of its own code; nil if they are unknown.
	*Spills
}

// Spills are the bytes that a function moves between registers and the stack because it has too few
// registers, as instructions in its text.
type Spills struct {
	Stores int64 `json:"spill_stores"`
	Loads  int64 `json:"spill_loads"`
}

// UsageHeads are the titles of the columns of a Usage.
const UsageHeads = "registers\tstack\tspill stores\tspill loads\tshared\tconstant\tcode"

// Columns returns the numbers of a kernel or function as text, in the order of UsageHeads.
func (u Usage) Columns() []string {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	registers, stack, stores, loads, shared, constant := "?", "-", "?", "?", "-", "-"
	if u.Registers > 0 {
		registers = strconv.Itoa(u.Registers)
	}
	if u.Kernel {
		if stack = "?"; u.Stack >= 0 {
			stack = number(u.Stack)
		}
		shared, constant = number(u.Shared), number(u.Constant)
	}
	if u.Spills != nil {
		stores, loads = number(u.Stores), number(u.Loads)
	}
	return []string{registers, stack, stores, loads, shared, constant, number(u.Code)}
}
