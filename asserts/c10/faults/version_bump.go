package faults

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/c10"
)

var _ = planting(asserts.VersionBump, plant{faults: versionBump, impossible: versionBumpImpossible})

func versionBump() []Fault {
	const why = "writes without a version bump"
	list := func() []any { return []any{[]*c10.Tensor{four(), four(), four()}} }
	holes := func() []any { return []any{four(), []*c10.Tensor{nil, four(), nil}} }
	return []Fault{
		{Op: "fault::forgets_version_.tensor", Code: asserts.VersionBump, Class: InPlace, Kind: Tensor, Subject: "self", Element: -1, Args: one, Why: why},
		{Op: "fault::forgets_version_.list", Code: asserts.VersionBump, Class: InPlace, Kind: List, Subject: "self", Element: 1, Args: list, Why: why + " of one element"},
		{Op: "fault::forgets_version.optional", Code: asserts.VersionBump, Class: InPlace, Kind: Optional, Subject: "running", Element: -1, Args: two, Why: why},
		{Op: "fault::forgets_version.optional_list", Code: asserts.VersionBump, Class: InPlace, Kind: OptionalList, Subject: "running", Element: 1, Args: holes, Why: why},
		{Op: "fault::skips_version.out", Code: asserts.VersionBump, Class: InPlace, Kind: Out, Subject: "out", Element: -1, Args: two, Why: why},
	}
}

func versionBumpImpossible(_ Kind, class Class) string {
	if class != InPlace {
		return "an op that may write an argument is in-place"
	}
	return ""
}
