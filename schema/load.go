package schema

// Load reads a native_functions.yaml-style file.
func Load(path, tagsPath string) (*File, error) { return nil, errTodo }

// Parse reads the bytes of a native_functions.yaml-style file.
func Parse(path string, src []byte, tags *TagSet) (*File, error) { return nil, errTodo }
