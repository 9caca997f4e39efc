package diag

import (
	"math/rand/v2"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b        string
		limit, want int
	}{
		{"helper", "helper", 0, 0},
		{"helper", "helpre", 2, 1},
		{"helper", "helpre", 0, 1},
		{"helper", "ehlpre", 2, 2},
		{"ca", "abc", 5, 3}, // no letter is changed twice
		{"", "abc", 3, 3},
		{"", "abc", 2, 3},
		{"", "", 0, 0},
		{"abc", "xyz", -1, 0},
		{"kitten", "sitting", 9, 3},
	} {
		if got := Distance(test.a, test.b, test.limit); got != test.want {
			t.Errorf("%q, %q within %d: %d, want %d", test.a, test.b, test.limit, got, test.want)
		}
		if got := Distance(test.b, test.a, test.limit); got != test.want {
			t.Errorf("%q, %q within %d: %d, want %d", test.b, test.a, test.limit, got, test.want)
		}
	}
}

// TestDistanceLimit compares random words with the full table of the textbook
// algorithm.
func TestDistanceLimit(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		b := make([]byte, random.IntN(9))
		for i := range b {
			b[i] = 'a' + byte(random.IntN(3))
		}
		return string(b)
	}
	for range 100000 {
		a, b, limit := word(), word(), random.IntN(10)
		if got, want := Distance(a, b, limit), min(whole(a, b), limit+1); got != want {
			t.Fatalf("%q, %q within %d: %d, want %d", a, b, limit, got, want)
		}
	}
}

func whole(a, b string) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
		for j := range table[i] {
			switch {
			case i == 0 || j == 0:
				table[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				table[i][j] = table[i-1][j-1]
			default:
				table[i][j] = table[i-1][j-1] + 1
			}
			table[i][j] = min(table[i][j], table[i-1][j]+1, table[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				table[i][j] = min(table[i][j], table[i-2][j-2]+1)
			}
		}
	}
	return table[len(a)][len(b)]
}
