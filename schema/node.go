package schema

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// mapping gives the values of the known keys, in the order of keys, nil where
// one is absent. It reports unknown and repeated keys. It is false for a node
// that is no mapping, which it reports too.
func (s *source) mapping(n *yaml.Node, what string, keys []string) ([]*yaml.Node, bool) {
	if n.Kind != yaml.MappingNode {
		s.reportKind(n, what+" with keys")
		return nil, false
	}
	values := make([]*yaml.Node, len(keys))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			s.reportKind(key, "a key")
			continue
		}
		switch known := slices.Index(keys, key.Value); {
		case known < 0:
			s.report(key, fmt.Sprintf("unknown key %q%s", clip(key.Value), suggest(key.Value, keys)))
		case values[known] != nil:
			s.report(key, fmt.Sprintf("the key %s is given twice, first in line %d", key.Value, values[known].Line))
		default:
			values[known] = value
		}
	}
	return values, true
}

// reportKind reports a node that is something else than what is expected.
func (s *source) reportKind(n *yaml.Node, expected string) {
	switch {
	case n.Kind == yaml.AliasNode:
		s.report(n, fmt.Sprintf("expected %s, found the YAML alias *%s: write it out", expected, clip(n.Value)))
	case n.Kind == yaml.SequenceNode:
		s.report(n, fmt.Sprintf("expected %s, found a list", expected))
	case n.Kind == yaml.MappingNode:
		s.report(n, fmt.Sprintf("expected %s, found a mapping", expected))
	case isNull(n):
		s.report(n, fmt.Sprintf("expected %s, found nothing", expected))
	default:
		s.report(n, fmt.Sprintf("expected %s, found %q", expected, clip(n.Value)))
	}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// boolean reads a YAML 1.1 boolean, as torchgen's reader does.
func boolean(n *yaml.Node) (value, ok bool) {
	plain := n.Kind == yaml.ScalarNode && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	if !plain || n.Tag != "!!bool" && n.Tag != "!!str" || len(n.Value) > len("false") {
		return false, false
	}
	switch v := strings.ToLower(n.Value); v {
	case "true", "yes", "on", "false", "no", "off":
		written := n.Value == v || n.Value == strings.ToUpper(v) || n.Value == strings.ToUpper(v[:1])+v[1:]
		return v == "true" || v == "yes" || v == "on", written
	}
	return false, false
}

// isText tells whether the node is a string, as torchgen's reader sees it.
func isText(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		return false
	}
	_, isBool := boolean(n)
	return !isBool
}
