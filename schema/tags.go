package schema

import (
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/opassert/opassert/internal/yamlfile"
)

// A TagSet holds the tags that a tags.yaml file declares. A nil TagSet accepts any tag.
type TagSet struct{ names []string }

func (t *TagSet) has(tag string) bool { return t == nil || slices.Contains(t.names, tag) }

// ParseTags reads the bytes of a tags.yaml file, a list of entries with the
// keys tag and desc. Errors are a [scanner.ErrorList].
//
// Source: torchgen/gen.py, parse_tags_yaml_struct.
func ParseTags(path string, src []byte) (*TagSet, error) {
	s := yamlfile.New(path, src)
	tags := &TagSet{}
	switch doc := s.Document("expected a list of tags, - tag: ..."); {
	case doc == nil:
	case doc.Kind != yaml.SequenceNode:
		s.ReportKind(doc, "a list of tags, - tag: ...")
	default:
		tags.read(s, doc)
	}
	if len(s.Errs) > 0 {
		s.Errs.Sort()
		return nil, s.Errs
	}
	return tags, nil
}

func (t *TagSet) read(s *yamlfile.File, doc *yaml.Node) {
	for _, n := range doc.Content {
		entry, ok := s.Mapping(n, "a tag", []string{"tag", "desc"})
		if !ok {
			continue
		}
		for i, key := range []string{"tag", "desc"} {
			if entry[i] == nil {
				s.Report(n, "a tag needs the key %s", key)
			} else if !yamlfile.IsText(entry[i]) || entry[i].Value == "" {
				s.ReportKind(entry[i], key+": text")
			}
		}
		if entry[0] == nil {
			continue
		}
		if slices.Contains(t.names, entry[0].Value) {
			s.Report(entry[0], "the tag %s is declared twice", entry[0].Value)
		}
		t.names = append(t.names, entry[0].Value)
	}
}
