package ptxsim

// Const returns the .const object with a name.
func (m *Machine) Const(name string) *Object {
	for _, o := range m.constant.objects {
		if o.Name == name {
			return o
		}
	}
	return nil
}
