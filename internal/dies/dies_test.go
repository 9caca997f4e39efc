package dies

import "testing"

// TestAbbreviationsReadOnce checks that units that share a table do not read it again, and
// that tables that overlap, which no producer writes, are refused before they take the
// square of their size.
func TestAbbreviationsReadOnce(t *testing.T) {
	const units = 50
	var data []byte
	for range units {
		data = append(data, 1, 0x11, 1, 0, 0)
	}
	data = append(data, 0)
	tables := NewTables(data)
	for range units {
		if _, err := tables.Table(0); err != nil || tables.read != len(data) {
			t.Fatalf("%d of %d bytes read, %v", tables.read, len(data), err)
		}
	}
	tables = NewTables(data)
	var err *Error
	for i := 0; i < units && err == nil; i++ {
		_, err = tables.Table(int64(5 * i))
	}
	if err == nil || tables.read > 2*len(data) {
		t.Errorf("%d of %d bytes read for tables that overlap, %v", tables.read, len(data), err)
	}
}

// TestLEB checks numbers of all lengths, with and without a sign.
func TestLEB(t *testing.T) {
	for _, test := range []struct {
		data     string
		unsigned uint64
		signed   int64
	}{
		{"\x00", 0, 0},
		{"\x3f", 63, 63},
		{"\x40", 64, -64},
		{"\x7f", 127, -1},
		{"\xff\x00", 127, 127},
		{"\x80\x7f", 127 << 7, -128},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 1<<63 - 1, -1},
		{"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 1 << 63, -1 << 63},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 1<<64 - 1, -1},
	} {
		r, s := Reader{Data: []byte(test.data)}, Reader{Data: []byte(test.data)}
		if n, m := r.Uleb(), s.Sleb(); n != test.unsigned || m != test.signed || r.Err != nil || s.Err != nil || r.At != int64(len(test.data)) || s.At != r.At {
			t.Errorf("%x: %d, %d, want %d, %d", test.data, n, m, test.unsigned, test.signed)
		}
	}
	for _, data := range []string{"", "\x80", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"} {
		r := Reader{Data: []byte(data)}
		if r.Uleb(); r.Err == nil {
			t.Errorf("%x is a number", data)
		}
	}
}
