package diag

import "testing"

func TestStaticName(t *testing.T) {
	const file = "b463ad89_7_anon_cu_448b6b4d"
	for name, want := range map[string]Static{
		// nvcc 11.8, 12.4 and 13.5
		"__nv_static_19__ad03f3a5_4_1_cu_s1_secret":                                                  {Name: "secret", File: "1_cu"},
		"__nv_static_24__642874a1_5_pl_cu__Z2fni_sv":                                                 {Name: "sv", File: "pl_cu"},
		"__nv_static_28__" + file + "__ZN37_INTERNAL_" + file + "3gfx5tableE":                        {Name: "gfx::table", File: "anon_cu"},
		"__nv_static_28__" + file + "__ZN37_INTERNAL_" + file + "39_GLOBAL__N__" + file + "6hiddenE": {Name: "hidden", File: "anon_cu", Anonymous: true},
		"_ZN37_INTERNAL_" + file + "39_GLOBAL__N__" + file + "5mixinEff":                             {Name: "mixin(float, float)", File: "anon_cu", Anonymous: true},
		"_ZN37_INTERNAL_" + file + "3gfx5innerEi":                                                    {Name: "gfx::inner(int)", File: "anon_cu"},
		// clang
		"_ZL3stai":                {Name: "sta(int)"},
		"_ZL6secret":              {Name: "secret"},
		"_ZN3gfxL5tableE":         {Name: "gfx::table"},
		"_ZN12_GLOBAL__N_13hidEi": {Name: "hid(int)", Anonymous: true},
	} {
		if got, ok := StaticName(name); !ok || got != want {
			t.Errorf("%s: %+v, %t, want %+v", name, got, ok, want)
		}
	}
	for _, name := range []string{"", "secret", "_Z3stai", "_ZN3gfx5innerEi", "_ZN3gfx1LEi", "_Z4hallLi3E", "_ZL", "_ZN", "_ZN3gfxL", "_ZN99gfx", "__nv_static_", "__nv_static_99_a_b", "__nv_static_1_a", "__nv_static_-1_a_b",
		"__nv_static_init", "_ZZ6other2PiiE7counter", "_ZN4core3ops17h8b7b8eb54cbdab6aE"} {
		if got, ok := StaticName(name); ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if !IsStaticVariable("__nv_static_19__ad03f3a5_4_1_cu_s1_secret") || IsStaticVariable("__nv_static_init") {
		t.Error("a static variable of nvcc was not recognised")
	}
}

// TestMisread shows the mangled names that package demangle reads wrongly: it takes the last type of these
// for is_same. The last name it reads rightly, as no substitution follows.
func TestMisread(t *testing.T) {
	for name, want := range map[string]string{
		"_Z12block_strideI7__half2TnNSt9enable_ifIXsr3std7is_sameIT_S0_EE5valueEiE4typeELi0EEvjjPS2_": "",
		"_Z12block_strideIdTnNSt9enable_ifIXntsr3std7is_sameIT_7__half2EE5valueEiE4typeELi0EEvjjPS1_": "",
		"_Z4fillIfENSt9enable_ifIXsr3std8is_floatIT_EE5valueEvE4typeEPT_":                             "std::enable_if<std::is_float<float>::value, void>::type fill<float>(float*)",
	} {
		if got := (Spelling{}).Unmangled(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestDemangleStatic checks that names are shown as the source has them, without the
// words for the file that nvcc adds.
func TestDemangleStatic(t *testing.T) {
	for name, want := range map[string]string{
		"__nv_static_23__192dfadb_4_s_cu__Z1kPf_sv":          "sv",
		"_ZN32_INTERNAL_192dfadb_4_s_cu__Z1kPf5blendEf":      "blend(float)",
		"_ZN37_INTERNAL_b463ad89_7_anon_cu_448b6b4d3gfx1fEv": "gfx::f()",
		"__nv_static_99_a_b":                                 "__nv_static_99_a_b",
	} {
		if got := (Spelling{}).Demangle(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
