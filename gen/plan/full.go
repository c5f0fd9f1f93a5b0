package plan

import (
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/schema"
)

// full plans every check that the schema calls for. An op that decomposes may
// hand back its argument, so its returns promise nothing.
func full(s *subjects) []Check {
	var checks []Check
	for i := range s.args {
		checks = append(checks, s.fullArg(i)...)
	}
	if s.op.IsComposite() {
		return checks
	}
	for i := range s.results {
		checks = append(checks, s.fullResult(i)...)
	}
	return checks
}

func (s *subjects) fullArg(i int) []Check {
	content := asserts.UndeclaredWrite
	if s.args[i].Write {
		content = asserts.VersionBump
	}
	return []Check{
		s.onArg(i, asserts.InputImpl),
		s.onArg(i, asserts.InputStorage),
		s.onArg(i, content),
	}
}

func (s *subjects) fullResult(i int) []Check {
	alias := s.resultAlias[i]
	carrier, carried := s.carrier(alias)
	if alias != nil && alias.Write {
		// OA007 and OA008 say nothing new about it: it is its argument.
		checks := []Check{s.onResult(i, asserts.MetaAlias, "")}
		if carried {
			checks = append([]Check{s.onResult(i, asserts.ReturnedSelf, carrier.Name)}, checks...)
		}
		return checks
	}
	checks := []Check{s.onResult(i, asserts.FreshImpl, "")}
	switch {
	case carried:
		checks = append(checks, s.onResult(i, asserts.ViewStorage, carrier.Name))
	case alias == nil:
		checks = append(checks, s.onResult(i, asserts.FreshStorage, ""))
	}
	checks = append(checks, s.undeclaredAliases(i)...)
	checks = append(checks, s.outputAliases(i)...)
	return append(checks, s.onResult(i, asserts.MetaAlias, ""))
}

// undeclaredAliases holds a result against every argument that the schema
// gives no alias set in common with it.
func (s *subjects) undeclaredAliases(i int) []Check {
	var checks []Check
	for j, arg := range s.args {
		if !shareSet(s.resultAlias[i], s.argAliases[j]) {
			checks = append(checks, s.onResult(i, asserts.UndeclaredAlias, arg.Name))
		}
	}
	return checks
}

// outputAliases holds a result against those before it, against written ones
// wherever they stand, and the elements of a list against each other.
func (s *subjects) outputAliases(i int) []Check {
	var checks []Check
	for j, other := range s.results {
		later := j > i && !isWritten(s.resultAlias[j])
		alone := j == i && !s.results[i].List
		if later || alone || shareSet(s.resultAlias[i], s.resultAlias[j]) {
			continue
		}
		checks = append(checks, s.onResult(i, asserts.OutputAlias, other.Name))
	}
	return checks
}

func isWritten(a *schema.Alias) bool { return a != nil && a.Write }

func (s *subjects) onArg(i int, code asserts.Code) Check {
	return Check{Check: asserts.Check{Code: code, On: s.args[i].Name}, List: s.argLists[i]}
}

func (s *subjects) onResult(i int, code asserts.Code, against string) Check {
	return Check{
		Check: asserts.Check{Code: code, On: s.results[i].Name, Against: against},
		List:  s.resultsLists[i],
	}
}
