package diag

// TypoLimit returns how many letters of a name may be wrong if it is a misspelling: one of
// four to eleven letters, two of up to seventeen, and so on. Shorter names are not
// treated as misspellings.
func TypoLimit(name string) int {
	if len(name) < 4 {
		return 0
	}
	return max(1, len(name)/6)
}

// Nearest returns the name that was probably meant, or "" if none is similar. The limit
// is the TypoLimit of the longer name, so that a letter may be missing.
func Nearest(names []string, name string) string {
	return nearest(names, name, func(n string) int { return max(TypoLimit(n), TypoLimit(name)) })
}

// NearestWord is [Nearest] for words that ptxlink defines, such as its options. The user must have
// meant one of them, so one letter in three may be wrong.
func NearestWord(words []string, name string) string {
	return nearest(words, name, func(word string) int {
		if len(word) == 1 {
			return 0
		}
		return len(name) / 3
	})
}

// Question returns the end of a message about a name: " (did you mean PREFIXnear?)", or "" if
// nothing is near.
func Question(prefix, near string) string {
	if near == "" {
		return ""
	}
	return " (did you mean " + prefix + near + "?)"
}

func nearest(names []string, name string, limit func(string) int) (near string) {
	least := len(name)
	for _, n := range names {
		limit := min(least, limit(n))
		if d := Distance(name, n, limit); d <= limit {
			least, near = d-1, n
		}
	}
	return near
}

// Distance returns how many letters must be changed, inserted, removed or swapped
// with their neighbour to turn a into b (optimal string alignment), or limit+1 if
// it is more than limit. Letters are bytes. The time is proportional to the length
// of a times limit.
func Distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit || limit < 0 {
		return limit + 1
	}
	// Row i holds the distances of a[:i] from each b[:j]. Distances farther than limit from the
	// diagonal are not computed, because they exceed limit.
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	before, last, row := rows[0], rows[1], rows[2]
	for j := range row {
		row[j] = min(j, limit+1)
	}
	least, leastLast := 0, 0
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		from, to := max(1, i-limit), min(len(b), i+limit)
		row[from-1] = limit + 1
		if from == 1 {
			row[0] = min(i, limit+1)
		}
		least, leastLast = row[from-1], least
		for j := from; j <= to; j++ {
			d := last[j-1]
			if a[i-1] != b[j-1] {
				d++
			}
			d = min(d, row[j-1]+1)
			if j < i+limit { // otherwise last[j] was not computed
				d = min(d, last[j]+1)
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = min(d, limit+1)
			least = min(least, row[j])
		}
		if least > limit && leastLast > limit {
			return limit + 1
		}
	}
	return row[len(b)]
}
