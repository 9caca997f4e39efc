package parallel

// Catch calls read, and returns the value of a type that it panics with, or the zero value. Another
// panic goes on.
func Catch[E any](read func()) (err E) {
	defer func() {
		if p := recover(); p != nil {
			var ours bool
			if err, ours = p.(E); !ours {
				panic(p)
			}
		}
	}()
	read()
	return err
}

// CatchValue is Catch for a function that returns a value. The error is nil, and not a nil E, if there was no panic.
func CatchValue[E interface {
	comparable
	error
}, V any](read func() V) (v V, err error) {
	var none E
	if fault := Catch[E](func() { v = read() }); fault != none {
		return v, fault
	}
	return v, nil
}
