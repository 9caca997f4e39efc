// Package catch returns the errors with which readers panic, to end what called them.
package catch

// As calls read, and returns the value of a type that it panics with, or the zero value. Another
// panic goes on.
func As[E any](read func()) (err E) {
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

// Value is As for a function that returns a value. The error is nil, and not a nil E, if there was no panic.
func Value[E interface {
	comparable
	error
}, V any](read func() V) (v V, err error) {
	var none E
	if fault := As[E](func() { v = read() }); fault != none {
		return v, fault
	}
	return v, nil
}
