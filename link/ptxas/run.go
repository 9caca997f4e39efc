package ptxas

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"ptxlink/internal/sets"
	"ptxlink/internal/tool"
	"ptxlink/object/diag"
)

// maxMessages is the number of messages of a kind that are taken from one run of a program. It is
// limited because placing a message in the inputs takes some 20 microseconds. maxPlain is the limit
// for lines without a kind, which are not messages of the program.
const maxMessages, maxPlain = 20_000, 20

// quota counts the lines of a program that become messages.
type quota struct {
	count map[string]int
	left  int // number of lines that are dropped
}

// take counts a line, and reports whether the quota of its kind, which may be empty, allows it.
func (t *quota) take(kind string) bool {
	most := maxMessages
	if kind == "" {
		most = maxPlain
	}
	if sets.Put(&t.count, kind, t.count[kind]+1); t.count[kind] > most {
		t.left++
		return false
	}
	return true
}

// noteLeft adds a note if a program has printed more lines than the quota allows.
func noteLeft(program string, lines int, log *diag.Log) {
	if lines > 0 {
		log.Note(diag.Place{}, leftOut(program, lines))
	}
}

func leftOut(program string, lines int) string {
	return fmt.Sprintf("%s printed %d more lines, which are left out", program, lines)
}

// alone is held for reading while programs run at the same time, and for writing by a program that
// must run alone.
var alone sync.RWMutex

// withRoom calls work, which runs a program. If processes, files or memory for it are scarce,
// withRoom calls it once more when no other program of ours runs.
func withRoom(work func() error) error {
	alone.RLock()
	err := work()
	alone.RUnlock()
	if err == nil || !tool.Scarce(err) {
		return err
	}
	alone.Lock()
	defer alone.Unlock()
	return work()
}

// without returns the messages of a program without the message that err contains, because the
// caller reports err.
func without(log *diag.Log, err error) *diag.Log {
	if failed, ok := errors.AsType[*diag.Message](err); ok {
		log.Messages = slices.DeleteFunc(log.Messages, func(m *diag.Message) bool { return m.Text == failed.Text })
	}
	return log
}
