package schema

// NewTagSet makes a set of the names.
func NewTagSet(names ...string) *TagSet { return &TagSet{names} }

// Has is has, for tests outside the package.
func (t *TagSet) Has(tag string) bool { return t.has(tag) }
