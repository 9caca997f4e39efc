package llvm

import (
	"testing"

	"ptxlink/internal/oracles"
)

func TestMain(m *testing.M) { oracles.Main(m) }
