package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/opassert/opassert/allowlist"
	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/gen/plan"
	"github.com/opassert/opassert/schema"
)

// A debugAssert is an assert of a promise that failed in a debug build of PyTorch: in code that is generated
// for an op, or in the fallback that autograd runs for ops without.
type debugAssert struct {
	condition, file, line, op string
	code                      asserts.Code // 0 where the condition is about no promise
	about                     string       // the argument or return
	healthy                   string       // where an op trips it that keeps its promises, or ""
}

var (
	assertMessage = regexp.MustCompile(`([^\n]*?)\s*INTERNAL ASSERT FAILED at\s+"?([^"\s]+?)"?:(\d+),?\s+` +
		`please report a bug to PyTorch\.?[ \t]*(?:function: )?([\w:.]*)`)
	beforeMessage = regexp.MustCompile(`^.*(?:Error:|what\(\):|\] ) *`)
	overload      = regexp.MustCompile(`^(\w+?)_([A-Z]\w*)$`) // of a function in generated code: add_Tensor
	ofPromises    = regexp.MustCompile(`^(VariableType_?\w*|autograd_not_implemented_fallback)\.cpp$`)
)

// fallback is the file whose asserts name neither arguments nor returns.
const fallback = "autograd_not_implemented_fallback.cpp"

// conditions are those that assert a promise. Their groups are the tensors that generated code names.
var conditions = []struct {
	code    asserts.Code
	shape   *regexp.Regexp
	about   string
	healthy string // where it fails for an op that keeps its promises
}{
	{asserts.ViewStorage, regexp.MustCompile(`aliased_input.*is_alias_of\(aliased_output()`), "return",
		"ops that return a tensor subclass with a storage of its own trip it, in builds of before June 2024"},
	{asserts.InputStorage, regexp.MustCompile(
		`(\w*?)_?storage_saved\b.*is_alias_of\(\s*(?:static_cast<[^(]*\()?(\w+?)_?[\[.]`), "argument", ""},
	{asserts.InputImpl, regexp.MustCompile(`(\w*?)_?impl_saved\b.*==`), "argument", ""},
	{asserts.FreshStorage, regexp.MustCompile(`(\w+)\.storage\(\)\.use_count\(\) *== *1`), "return",
		"ops that return slices of one new buffer trip it, which opassert reports as OA008; " +
			"so do wrappers of functorch's transforms"},
	{asserts.FreshImpl, regexp.MustCompile(`(\w+)\.use_count\(\) *(?:<=|==) *1`), "return",
		"kernels in Python trip it from PyTorch 2.10 on: it counts the return's Python object, which opassert subtracts"},
	{asserts.FreshImpl, regexp.MustCompile(`(\w+)\.use_count\(\) *== *expected_fresh_use_count`), "return", ""},
}

// readAsserts returns the failed asserts in a text, each once.
func readAsserts(text string) (all []debugAssert) {
	seen := make(map[debugAssert]bool)
	for _, m := range assertMessage.FindAllStringSubmatch(text, -1) {
		condition := beforeMessage.ReplaceAllString(strings.TrimSpace(m[1]), "")
		a := debugAssert{condition: condition, file: path.Base(m[2]), line: m[3], op: m[4]}
		a.classify()
		if !seen[a] {
			seen[a] = true
			all = append(all, a)
		}
	}
	return all
}

// classify finds the promise that the condition asserts.
func (a *debugAssert) classify() {
	if !ofPromises.MatchString(a.file) {
		return
	}
	for _, c := range conditions {
		m := c.shape.FindStringSubmatch(a.condition)
		if m == nil {
			continue
		}
		a.code, a.about, a.healthy = c.code, fmt.Sprintf("%s %q", c.about, strings.TrimSuffix(m[1], "_")), c.healthy
		switch {
		case a.op == "aten::_nested_get_offsets":
			a.healthy = "this op trips it: it returns the offsets that the nested tensor keeps"
			fallthrough
		case a.file == fallback:
			a.about = c.about
		case a.code == asserts.InputStorage && m[2] != strings.TrimSuffix(m[1], "_"):
			a.code, a.about = asserts.ViewStorage, fmt.Sprintf("return %q, a view of %s", m[2], a.about)
		}
		return
	}
}

// exempt returns why PyTorch's generator leaves the assert out for the op, or "".
func exempt(op *schema.Op, code asserts.Code) string {
	for _, name := range slices.Backward(plan.Presets()) {
		list, err := allowlist.Preset(name)
		if err != nil || op == nil {
			continue
		}
		for _, e := range list.About(op) {
			if e.Excuses(code, allowlist.Where{}) {
				return e.Reason + " (preset " + name + ")"
			}
		}
	}
	return ""
}

// piped reports whether the standard input is neither a terminal nor /dev/null.
func piped() bool {
	info, err := os.Stdin.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0
}

func (inv *invocation) explainAsserts(flags *planFlags) error {
	text, err := io.ReadAll(io.LimitReader(os.Stdin, 16<<20))
	if err != nil {
		return err
	}
	all := readAsserts(string(text))
	switch {
	case inv.flags.NArg() == 0 && len(text) == 0:
		return usagef("want %s, or -policy", inv.args)
	case len(all) == 0:
		return fmt.Errorf("standard input: no assert in %d lines: want the message of a debug build of PyTorch, "+
			`as in: result.use_count() <= 1 INTERNAL ASSERT FAILED at "../VariableType_4.cpp":4625, `+
			`please report a bug to PyTorch. function: relu`,
			strings.Count(string(text), "\n"))
	}
	ops, err := flags.load(inv)
	if *flags.schema != "" && err != nil {
		return err
	}
	var unread error
	for i, a := range all {
		if a.code == 0 {
			unread = fmt.Errorf("standard input: %s:%s does not assert a promise of a schema: %s", a.file, a.line, a.condition)
			fmt.Fprintf(inv.stderr, "opassert explain: %v\n", unread)
			continue
		}
		if i > 0 {
			inv.line("")
		}
		inv.explainAssert(&a, ops)
	}
	if unread != nil {
		return exitStatus(2)
	}
	return nil
}

func (inv *invocation) explainAssert(a *debugAssert, ops []*schema.Op) {
	var op *schema.Op
	for _, o := range ops { // generated code names the function of an overload, as add_Tensor
		if strings.ReplaceAll(o.Name(), ".", "_") == strings.TrimPrefix(a.op, "aten::") {
			op = o
		}
	}
	name, show := a.op, "opassert run -- python3 PROGRAM"
	switch namespace, _, qualified := strings.Cut(a.op, "::"); {
	case op != nil:
		name = "aten::" + op.Name()
		show = "opassert check -op " + name
	case qualified && namespace != "aten":
		show = "opassert check -module MODULE -op " + a.op + ", or " + show
	case a.op != "":
		name = "aten::" + overload.ReplaceAllString(strings.TrimPrefix(a.op, "aten::"), "$1.$2")
		show = "opassert check -op " + name
	}
	inv.line("%v %s  %s  %s", a.code, a.code.Name(), cmp.Or(name, "(the message names no op)"), a.about)
	inv.line("  assert   %s at %s:%s", a.condition, a.file, a.line)
	inv.line("  rule     %s", a.code.Rule())
	inv.line("  breaks   %s", a.code.Breaks())
	inv.line("  healthy  %s", cmp.Or(a.healthy, "no healthy op trips it"))
	if reason := exempt(op, a.code); reason != "" {
		inv.line("  exempt   %s", reason)
	}
	inv.line("  show     %s", show)
}
