package schema

// A TagSet holds the tags that a tags.yaml file declares.
type TagSet struct{ names []string }

// ParseTags reads the bytes of a tags.yaml file.
func ParseTags(path string, src []byte) (*TagSet, error) { return nil, errTodo }
