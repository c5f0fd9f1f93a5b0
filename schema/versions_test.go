package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/opassert/opassert/schema"
)

// The file determines the rules by which it is read, if it can.
func TestReading(t *testing.T) {
	// Up to 2.5 the functional variant of this group derives from the in-place op, from 2.6 on from
	// the mutable one.
	const cpu = "  dispatch:\n    CPU: f\n"
	group := func(autogenOfMutable, autogenOfInplace string) string {
		return "- func: f.m(Tensor self, Tensor(b!) x) -> Tensor\n" + cpu + autogenOfMutable +
			"- func: f_.i(Tensor(a!) self, Tensor(b!) x) -> Tensor(a!)\n" + cpu + autogenOfInplace +
			"- func: f.out(Tensor self, Tensor(b!) x, *, Tensor(a!) out) -> Tensor(a!)\n" + cpu
	}
	pytorchs := func(more ...string) *schema.TagSet {
		return schema.NewTagSet(append(more, "generated", "inplace_view", "nondeterministic_seeded", "view_copy")...)
	}
	const compliant = "pt2_compliant_tag"
	plain := "- func: f(Tensor self) -> Tensor\n" + cpu
	for _, tt := range []struct {
		name, src, version string
		tags               *schema.TagSet
		want               string
	}{
		{"nothing to derive", strings.Replace(plain, cpu, cpu+"  autogen: f.out\n", 1), "", nil, ">=2.13 (the newest known; -version names another)"},
		{"autogen against tags", group("", "  autogen: f.i\n"), "", pytorchs("core", compliant, "maybe_aliasing_or_mutating", "inplace", "out"), ">=2.2, <2.6 (its autogen lists and tags)"},
		{"derived from 2.6 on, and not listed", "- func: f_(Tensor(a!) self) -> Tensor(a!)\n  tags: core\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n", "", nil, ">=2.2, <2.6 (the newest that its autogen lists and tags allow; -version names another)"},
		{"listed, and looked at by no version", "- func: f(Tensor self) -> Tensor\n  tags: core\n  autogen: f_functional\n", "", nil, ">=2.13 (the newest that its tags allow; -version names another)"},
		{"nothing", plain, "", nil, ">=2.13 (the newest known; -version names another)"},
		{"asked", plain, "2.5.1+cu121", nil, ">=2.2, <2.6 (-version 2.5.1+cu121)"},
		{"older than the table", plain, "1.8", nil, ">=1.13, <2.0 (-version 1.8)"},
		{"newer than the table", plain, "3.1.0a0", nil, ">=2.13 (-version 3.1.0a0)"},
		{"tags of 1.13", plain, "", pytorchs(), ">=1.13, <2.0 (its tags)"},
		{"tags of 2.1", plain, "", pytorchs("core"), ">=2.0, <2.2 (its tags)"},
		{"tags of 2.9", plain, "", pytorchs("core", "pt2_compliant_tag", "maybe_aliasing_or_mutating"), ">=2.6, <2.13 (its tags)"},
		{"tags of 2.14", plain, "", pytorchs("core", "pt2_compliant_tag", "maybe_aliasing_or_mutating", "inplace", "out"), ">=2.13 (its tags)"},
		{"tags against -version", plain, "2.6", pytorchs("core"), ">=2.0, <2.2 (its tags, against -version 2.6)"},
		{"somebody else's tags", plain, "2.6", schema.NewTagSet("mine"), ">=2.6, <2.13 (-version 2.6)"},
		{"a tag in use, no tags.yaml", strings.Replace(plain, cpu, "  tags: core\n"+cpu, 1), "", nil, ">=2.13 (the newest that its tags allow; -version names another)"},
		{"a tag in use, and asked", strings.Replace(plain, cpu, "  tags: core\n"+cpu, 1), "2.4", nil, ">=2.2, <2.6 (-version 2.4)"},
		{"autogen of 2.5", group("", "  autogen: f.i\n"), "", nil, ">=2.2, <2.6 (the newest that its autogen lists allow; -version names another)"},
		{"autogen of 2.6", group("  autogen: f_functional.m\n", ""), "", nil, ">=2.13 (the newest that its autogen lists allow; -version names another)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file, err := schema.Config{Version: tt.version}.Parse("f", []byte(tt.src), tt.tags)
			if err != nil {
				t.Fatal(allErrors(err))
			}
			if got := fmt.Sprint(file.Reading); got != "the rules of PyTorch "+tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if matters := tt.name != "nothing" && tt.name != "somebody else's tags"; file.Reading.Matters != (matters || tt.version != "") {
				t.Errorf("the rules matter: %v, want %v", file.Reading.Matters, matters)
			}
			for _, w := range file.Warnings {
				t.Error(w)
			}
		})
	}
	if _, err := (schema.Config{Version: "new"}).Parse("f", []byte(plain), nil); err == nil || !strings.Contains(err.Error(), `"new" is not a version of PyTorch`) {
		t.Errorf("version new: %v", err)
	}
}

// The tags that PyTorch adds to an op because of its properties, in a file of a version that adds
// them.
func TestGivenTags(t *testing.T) {
	const cpu = "  dispatch:\n    CPU: f\n"
	src := "- func: f_(Tensor(a!) self) -> Tensor(a!)\n" + cpu + "  autogen: f, f.out\n- func: ns::g_(Tensor(a!) self) -> Tensor(a!)\n" + cpu +
		"- func: h_(Tensor(a!) self) -> Tensor(a!)\n  tags: [inplace]\n" + cpu
	group := "- func: f.m(Tensor self, Tensor(b!) x) -> Tensor\n" + cpu + "  autogen: f_functional.m\n" +
		"- func: f_.i(Tensor(a!) self, Tensor(b!) x) -> Tensor(a!)\n" + cpu +
		"- func: f.out(Tensor self, Tensor(b!) x, *, Tensor(a!) out) -> Tensor(a!)\n" + cpu
	older := strings.Replace(strings.Replace(group, "  autogen: f_functional.m\n", "", 1), "f_.i(Tensor(a!) self, Tensor(b!) x) -> Tensor(a!)\n"+cpu, "f_.i(Tensor(a!) self, Tensor(b!) x) -> Tensor(a!)\n"+cpu+"  autogen: f.i\n", 1)
	all := schema.NewTagSet("generated", "core", "pt2_compliant_tag", "maybe_aliasing_or_mutating", "inplace", "out")
	for _, tt := range []struct {
		name, src, version string
		tags               *schema.TagSet
		want               string
	}{
		{"declared", src, "", all, "f_ inplace,pt2_compliant_tag; ns::g_ inplace; h_ inplace,pt2_compliant_tag; f.out generated,out,pt2_compliant_tag; f generated,pt2_compliant_tag"},
		{"asked", src, "2.13", nil, "f_ inplace,pt2_compliant_tag; ns::g_ inplace; h_ inplace,pt2_compliant_tag; f.out generated,out,pt2_compliant_tag; f generated,pt2_compliant_tag"},
		{"asked for less", strings.ReplaceAll(src, "  tags: [inplace]\n", ""), "2.0", nil, "f_ ; ns::g_ ; h_ ; f.out generated; f generated"},
		{"autogen says that it is 2.6 at least", group, "", nil, "f.m pt2_compliant_tag; f_.i pt2_compliant_tag; f.out pt2_compliant_tag; f_functional.m generated,pt2_compliant_tag"},
		{"autogen of 2.5 against tags", older, "", all, "f.m pt2_compliant_tag; f_.i inplace,pt2_compliant_tag; f.out out,pt2_compliant_tag; f.i generated,pt2_compliant_tag"},
	} {
		file, err := schema.Config{Version: tt.version}.Parse("f", []byte(tt.src), tt.tags)
		if err != nil {
			t.Errorf("%s: %s", tt.name, allErrors(err))
			continue
		}
		var got []string
		for _, op := range file.Ops {
			got = append(got, op.Name()+" "+strings.Join(op.Tags, ","))
		}
		if text := strings.Join(got, "; "); text != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, text, tt.want)
		}
	}
}

// Ops have the names in autogen, whether functional or out= variants.
func TestTheFilesWord(t *testing.T) {
	const cpu = "  dispatch:\n    CPU: f\n"
	for _, tt := range []struct{ src, want string }{
		{"- func: f(Tensor self, Tensor(a!) x) -> Tensor\n" + cpu + "  autogen: f_purely, f.outt\n",
			"f.outt(Tensor self, Tensor(a!) x, *, Tensor(b!) out) -> Tensor(b!); f_purely(Tensor self, Tensor x) -> (Tensor, Tensor x_out)"},
		{"- func: f(Tensor self, Tensor(a!) x) -> Tensor\n" + cpu + "  autogen: f_purely, f.out\n",
			"f.out(Tensor self, Tensor(a!) x, *, Tensor(b!) out) -> Tensor(b!); f_purely(Tensor self, Tensor x) -> (Tensor, Tensor x_out)"},
		{"- func: f(Tensor self) -> Tensor\n" + cpu + "  autogen: f.out, f.alien\n",
			"f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!); f.alien(Tensor self) -> Tensor"},
		{"- func: f(Tensor self) -> Tensor\n" + cpu + "  autogen: f.out, f.other_out\n",
			"f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!); f.other_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"},
		{"- func: f(Tensor self) -> Tensor\n" + cpu + "  autogen: f.out\n- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n" + cpu, ""},
	} {
		file, err := schema.Parse("f", []byte(tt.src), nil)
		if err != nil {
			t.Error(allErrors(err))
			continue
		}
		var got []string
		for _, op := range file.Ops {
			if op.Autogenerated {
				got = append(got, op.String())
			}
		}
		if text := strings.Join(got, "; "); text != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.src, text, tt.want)
		}
		if !strings.Contains(allErrors(file.Warnings), "the name in the file is used") {
			t.Errorf("%s: %v", tt.src, file.Warnings)
		}
	}
}
