package ptxsim

// Const returns the .const object with a name.
func (m *Machine) Const(name string) *Object {
	for _, o := range m.banks {
		if o.Name == name {
			return o
		}
	}
	return nil
}
