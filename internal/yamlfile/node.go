package yamlfile

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Mapping returns the values of the known keys, in the order of keys, nil where one is absent. It reports unknown and
// repeated keys. It reports false for a node that is not a mapping, which is an error too.
func (f *File) Mapping(n *yaml.Node, what string, keys []string) ([]*yaml.Node, bool) {
	values, unknown, ok := f.Fields(n, what, keys)
	for _, key := range unknown {
		f.Report(key, "%s", UnknownKey(key, keys))
	}
	return values, ok
}

// Fields is [File.Mapping], except that it returns the unknown keys to the caller.
func (f *File) Fields(n *yaml.Node, what string, keys []string) (values, unknown []*yaml.Node, ok bool) {
	if n.Kind != yaml.MappingNode {
		f.ReportKind(n, what+" with keys")
		return nil, nil, false
	}
	values = make([]*yaml.Node, len(keys))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			f.ReportKind(key, "a key")
			continue
		}
		switch known := slices.Index(keys, key.Value); {
		case known < 0:
			unknown = append(unknown, key)
		case values[known] != nil:
			f.Report(key, "the key %s is given twice, first in line %d", key.Value, values[known].Line)
		default:
			values[known] = value
		}
	}
	return values, unknown, true
}

// UnknownKey reports a key that is not among the known ones, and suggests one.
func UnknownKey(key *yaml.Node, keys []string) string {
	return fmt.Sprintf("unknown key %q%s", Clip(key.Value), Suggest(key.Value, keys))
}

// ReportKind reports a node of another kind than is expected.
func (f *File) ReportKind(n *yaml.Node, expected string) {
	switch {
	case n.Kind == yaml.AliasNode:
		f.Report(n, "expected %s, found the YAML alias *%s: write it out", expected, Clip(n.Value))
	case n.Kind == yaml.SequenceNode && len(n.Content) == 0:
		f.Report(n, "expected %s, found an empty list", expected)
	case n.Kind == yaml.SequenceNode:
		f.Report(n, "expected %s, found a list", expected)
	case n.Kind == yaml.MappingNode:
		f.Report(n, "expected %s, found a mapping", expected)
	case IsNull(n):
		f.Report(n, "expected %s, found nothing", expected)
	default:
		f.Report(n, "expected %s, found %q", expected, Clip(n.Value))
	}
}

// IsNull reports whether the node is YAML's null, as an empty value is.
func IsNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// Bool reads a YAML 1.1 boolean, as torchgen's reader does.
func Bool(n *yaml.Node) (value, ok bool) {
	const styles = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if n.Kind != yaml.ScalarNode || n.Style&styles != 0 || n.Tag != "!!bool" && n.Tag != "!!str" {
		return false, false
	}
	switch v := strings.ToLower(n.Value); v {
	case "true", "yes", "on", "false", "no", "off":
		written := n.Value == v || n.Value == strings.ToUpper(v) || n.Value == strings.ToUpper(v[:1])+v[1:]
		return v == "true" || v == "yes" || v == "on", written
	}
	return false, false
}

// IsText reports whether the node is a string, as torchgen's reader sees it.
func IsText(n *yaml.Node) bool {
	_, isBool := Bool(n)
	return n.Kind == yaml.ScalarNode && n.Tag == "!!str" && !isBool
}

// Clip shortens text for a message.
func Clip(text string) string {
	const most = 20
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
