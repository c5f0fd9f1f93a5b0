package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A revision is a row of the table of those of torchgen's rules that changed: from one version of
// PyTorch to the version of the next row.
type revision struct {
	since string // "2.6"
	// mark is a tag that this version is the first to declare, so that a tags.yaml identifies the row.
	mark string
	// bases is the order of kinds in which the variant is searched that missing variants are
	// derived from: add_generated_native_functions.
	bases []Kind
	// coreDerives means that a group of composite ops gets its missing variants if one has the tag
	// core: add_generated_native_functions.
	coreDerives bool
	// inherited are the tags that a derived op has from its base: generate_function.
	inherited []string
	// given are the tags that an op has because of its kind or name, even if not written:
	// torchgen/model.py, NativeFunction.from_yaml, and generate_function.
	given []givenTag
}

// revisions is the table, oldest first.
//
// Source: torchgen/native_function_generation.py, if no other file is given.
var revisions = []revision{
	{"1.13", "", inplaceFirst, false, inherited[:1], nil},
	{"2.0", "core", inplaceFirst, false, inherited[:2], nil},
	{"2.2", compliantTag, inplaceFirst, false, inherited, []givenTag{compliant}},
	{"2.6", "maybe_aliasing_or_mutating", mutableFirst, true, inherited, []givenTag{compliant}},
	{"2.13", "inplace", mutableFirst, true, inherited, []givenTag{compliant, inplaceGiven, outGiven}},
}

var (
	inherited    = []string{seededTag, "view_copy", compliantTag}
	inplaceFirst = []Kind{Inplace, Mutable, Out, Functional}
	mutableFirst = []Kind{Mutable, Inplace, Out, Functional}
)

// compliantTag is on every op of aten in versions that know the tag.
const compliantTag = "pt2_compliant_tag"

// A givenTag is a tag with the condition of its ops.
type givenTag struct {
	tag string
	has func(*Op) bool
}

var (
	compliant    = givenTag{compliantTag, func(op *Op) bool { return op.Namespace == "aten" }}
	inplaceGiven = givenTag{"inplace", func(op *Op) bool { return op.Func.Name.Inplace }}
	outGiven     = givenTag{"out", func(op *Op) bool {
		return slices.ContainsFunc(op.Func.Args, func(a Argument) bool { return a.Out })
	}}
)

// A Reading tells which version's rules of torchgen apply to a file, and why.
type Reading struct {
	Since, Before string // the versions from Since up to, but not including, Before; "" for no end
	Why           string // "its tags", "its autogen lists and tags", "-version 2.6"
	// Matters reports whether other rules could have read the file differently.
	Matters bool
}

func (r Reading) String() string {
	versions := ">=" + r.Since
	if r.Before != "" {
		versions += ", <" + r.Before
	}
	return fmt.Sprintf("the rules of PyTorch %s (%s)", versions, r.Why)
}

// parseVersion reads the first two numbers of "2.6.0a0+git".
func parseVersion(text string) ([]int, error) {
	var major, minor int
	if _, err := fmt.Sscanf(text, "%d.%d", &major, &minor); err != nil {
		return nil, fmt.Errorf("%q is not a version of PyTorch: write it as 2.6 or 2.6.0", text)
	}
	return []int{major, minor}, nil
}

// rowOf returns the row for a version. A version older than the table gets the first row.
func rowOf(version string) (int, error) {
	v, err := parseVersion(version)
	if err != nil {
		return 0, err
	}
	row := 0
	for i, r := range revisions {
		if since, _ := parseVersion(r.since); slices.Compare(since, v) <= 0 {
			row = i
		}
	}
	return row, nil
}

// chooseRevision returns the row for the file: the one whose derived ops its autogen lists name; of
// several, one that agrees with its tags; then the one for the caller's version; then the newest.
func (r *reader) chooseRevision(entries []*entry, groups []*group) (int, error) {
	oldest, newest, seen := r.markedRows(entries)
	asked := -1
	if r.config.Version != "" {
		row, err := rowOf(r.config.Version)
		if err != nil {
			return 0, err
		}
		asked = row
	}
	type fit struct{ row, disputes, offTags, offAsked int }
	fits := make([]fit, len(revisions))
	for i := range revisions {
		fits[i] = fit{i, disputes(groups, &revisions[i]), max(oldest-i, i-newest, 0), 0}
		if asked >= 0 {
			fits[i].offAsked = max(asked-i, i-asked)
		}
	}
	best := slices.MinFunc(fits, func(a, b fit) int {
		return cmp.Or(a.disputes-b.disputes, a.offTags-b.offTags, a.offAsked-b.offAsked, b.row-a.row)
	})
	byAutogen := slices.ContainsFunc(fits, func(f fit) bool { return f.disputes > best.disputes })
	fitting := slices.IndexFunc(fits, func(f fit) bool { return f.disputes == best.disputes })
	r.floor = min(max(fitting, oldest, asked), best.row)
	r.reading = Reading{Since: revisions[best.row].since, Why: r.why(best.row, byAutogen, seen, asked)}
	if best.row+1 < len(revisions) {
		r.reading.Before = revisions[best.row+1].since
	}
	lists := func(e *entry) bool { return len(e.op.Autogen) > 0 }
	r.reading.Matters = seen || asked >= 0 || slices.ContainsFunc(entries, lists)
	return best.row, nil
}

func (r *reader) why(row int, byAutogen, byTags bool, asked int) string {
	var evidence []string
	if byAutogen {
		evidence = append(evidence, "autogen lists")
	}
	if byTags {
		evidence = append(evidence, "tags")
	}
	switch {
	case asked >= 0 && asked != row:
		return fmt.Sprintf("its %s, against -version %s", strings.Join(evidence, " and "), r.config.Version)
	case asked >= 0:
		return "-version " + r.config.Version
	case evidence == nil:
		return "the newest known; -version names another"
	case row > r.floor:
		return "the newest that its " + strings.Join(evidence, " and ") + " allow; -version names another"
	}
	return "its " + strings.Join(evidence, " and ")
}

// markedRows returns the rows that agree with the tags, and whether the tags exclude
// any. A tags.yaml has all declared tags; without one, a tag of an entry was declared.
func (r *reader) markedRows(entries []*entry) (oldest, newest int, seen bool) {
	newest = len(revisions) - 1
	// Every tags.yaml of PyTorch declares generated; tags that are missing in others prove nothing.
	whole := r.tags != nil && r.tags.has(generatedTag)
	for i := 1; i < len(revisions); i++ { // all have a mark but the first
		rev := &revisions[i]
		declared := r.tags != nil && r.tags.has(rev.mark) ||
			slices.ContainsFunc(entries, func(e *entry) bool { return slices.Contains(e.op.Tags, rev.mark) })
		switch {
		case declared:
			oldest, newest, seen = i, len(revisions)-1, true
		case whole && newest == len(revisions)-1:
			newest, seen = i-1, true
		}
	}
	return oldest, newest, seen
}

// disputes counts the names that autogen lists and the row does not derive, and those that it
// derives and autogen does not list, in the groups that torchgen compares.
func disputes(groups []*group, rev *revision) int {
	count := 0
	for _, g := range groups {
		if !g.derives(rev) {
			continue
		}
		derived := g.missing(rev)
		if !g.compared(derived) {
			continue
		}
		listed := g.listed()
		for _, v := range derived {
			i := slices.IndexFunc(listed, func(l listedName) bool { return l.name == v.Name })
			if i < 0 {
				count++
				continue
			}
			listed = slices.Delete(listed, i, i+1)
		}
		count += len(listed)
	}
	return count
}

// giveTags adds the tags that ops have because of their kind or name. The valid tags are those of
// tags.yaml; without one, those of the oldest PyTorch that the file can be for.
func (r *reader) giveTags(op *Op) {
	given := revisions[r.floor].given
	if r.tags != nil {
		given = revisions[len(revisions)-1].given
	}
	for _, g := range given {
		if r.tags.has(g.tag) && g.has(op) && !slices.Contains(op.Tags, g.tag) {
			op.Tags = append(op.Tags, g.tag)
			slices.Sort(op.Tags)
		}
	}
}
