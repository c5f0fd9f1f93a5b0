package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/opassert/opassert/schema"
)

// TestReading: the file says by whose rules it is read, where it can.
func TestReading(t *testing.T) {
	// Up to 2.5 the functional variant of this group comes from the in-place
	// op, from 2.6 on from the mutable one.
	const cpu = "  dispatch:\n    CPU: f\n"
	group := func(autogenOfMutable, autogenOfInplace string) string {
		return "- func: f.m(Tensor self, Tensor(b!) x) -> Tensor\n" + cpu + autogenOfMutable +
			"- func: f_.i(Tensor(a!) self, Tensor(b!) x) -> Tensor(a!)\n" + cpu + autogenOfInplace +
			"- func: f.out(Tensor self, Tensor(b!) x, *, Tensor(a!) out) -> Tensor(a!)\n" + cpu
	}
	pytorchs := func(more ...string) *schema.TagSet {
		return schema.NewTagSet(append(more, "generated", "inplace_view", "nondeterministic_seeded", "view_copy")...)
	}
	plain := "- func: f(Tensor self) -> Tensor\n" + cpu
	for _, tt := range []struct {
		name, src, version string
		tags               *schema.TagSet
		want               string
	}{
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
			if len(file.Warnings) > 0 {
				t.Error(file.Warnings)
			}
		})
	}
	if _, err := (schema.Config{Version: "new"}).Parse("f", []byte(plain), nil); err == nil || !strings.Contains(err.Error(), `"new" is no version of PyTorch`) {
		t.Errorf("version new: %v", err)
	}
}
