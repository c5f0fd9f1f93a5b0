package bind

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"regexp"
	"strings"

	"github.com/opassert/opassert/gen/plan"
)

// mark is the directive that makes a function a kernel.
const mark = "//opassert:kernel"

// allowMark is the directive that allows a kernel to break a rule, and a line to have a finding of opassert vet:
//
//	//opassert:allow OA009 it sorts its argument, as its callers know
//	//opassert:allow OA201 the debugger shows what the kernel alone does
const allowMark = "//opassert:allow"

// A Mark is a line of a function's doc comment that makes it a kernel.
type Mark struct {
	Op     string // as in the mark
	Names  []Name // after the op: dst=out
	As     string // the wrapper's name, "" for the function's
	Pos    token.Pos
	Func   *ast.FuncDecl
	Allows []Allow // those of the function
	Wrong  *Unread // why it can't be read, or nil
}

// An Allow is a check that a kernel, or a finding that a line, is allowed to have, and why.
type Allow struct {
	Check, Reason string // "" if missing
	Pos           token.Pos
	comment       *ast.Comment
}

func parseAllow(c *ast.Comment) (Allow, bool) {
	rest, ok := strings.CutPrefix(c.Text, allowMark)
	check, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
	return Allow{check, strings.TrimSpace(reason), c.Pos(), c}, ok
}

// ofLine reports whether the comment is about a line, not about a kernel.
func (a Allow) ofLine() bool { return ParseFinding(a.Check) != nil }

// LineAllows returns the findings of opassert vet that comments of a file allow.
func LineAllows(file *ast.File) (allows []Allow) {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if a, _ := parseAllow(c); a.ofLine() {
				allows = append(allows, a)
			}
		}
	}
	return allows
}

// A Name assigns an argument of the schema to a parameter.
type Name struct {
	Param, Arg string
	Pos        token.Pos
}

// An Unread comment looks like a mark but is not one.
type Unread struct {
	Pos token.Pos
	Why string
}

// Marks returns the marks of a file, parsed with its comments, and the comments that look like a
// mark or directive but are not read.
func Marks(file *ast.File) ([]Mark, []Unread) {
	var marks []Mark
	read := map[*ast.Comment]bool{}
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Doc == nil {
			continue
		}
		for _, c := range fn.Doc.List {
			if rest, ok := strings.CutPrefix(c.Text, mark); ok {
				m := parseMark(rest, c.Pos()+token.Pos(len(mark)))
				m.Pos, m.Func = c.Pos(), fn
				marks = append(marks, m)
				read[c] = true
			}
			read[c] = read[c] || directives[c.Text] != nil
		}
		for _, c := range fn.Doc.List {
			allow, ok := parseAllow(c)
			if !ok || allow.ofLine() {
				continue
			}
			for i := range marks {
				if marks[i].Func == fn {
					marks[i].Allows = append(marks[i].Allows, allow)
					read[c] = true
				}
			}
		}
	}
	for _, a := range LineAllows(file) {
		read[a.comment] = true
	}
	var unread []Unread
	for _, group := range file.Comments {
		for _, c := range group.List {
			if !read[c] && likeMark.MatchString(c.Text) {
				unread = append(unread, Unread{c.Pos(), whyUnread(c)})
			}
		}
	}
	return marks, unread
}

// parseMark parses the text after a mark: an op, names of parameters with those of the schema's
// arguments, and the wrapper's name. Where the text is malformed, Wrong has the reason and the place.
func parseMark(rest string, pos token.Pos) (m Mark) {
	wrong := func(at int, why string) Mark { return Mark{Wrong: &Unread{pos + token.Pos(at), why}} }
	words := words.FindAllStringIndex(rest, -1)
	if len(words) == 0 || words[0][0] == 0 {
		return wrong(-len(mark), wantMark)
	}
	m.Op = rest[words[0][0]:words[0][1]]
	if strings.Contains(m.Op, "=") {
		return wrong(words[0][0], "want an op before "+m.Op+": "+mark+" add.out "+m.Op)
	}
	for i := 1; i < len(words); i++ {
		word, at := rest[words[i][0]:words[i][1]], words[i][0]
		param, arg, isName := strings.Cut(word, "=")
		switch {
		case word == "as":
			if i++; i == len(words) || !exported.MatchString(rest[words[i][0]:words[i][1]]) {
				return wrong(at, "want the wrapper's name, with a capital letter, after as: "+mark+" "+m.Op+" as Add")
			}
			m.As = rest[words[i][0]:words[i][1]]
		case !isName:
			return wrong(at, word+" follows the op: want one op, and after it parameters "+
				"with the schema's arguments, such as dst=out, or the wrapper's name: as Add")
		case !token.IsIdentifier(param):
			return wrong(at, word+": want a parameter of the kernel before the =, such as dst=out")
		case !token.IsIdentifier(arg):
			return wrong(at+len(param)+1, word+": want an argument of the schema after the =, such as dst=out")
		default:
			m.Names = append(m.Names, Name{param, arg, pos + token.Pos(at)})
		}
	}
	return m
}

var (
	words    = regexp.MustCompile(`\S+`)
	exported = regexp.MustCompile(`^\p{Lu}[\pL\d_]*$`)
)

// likeMark matches a misspelt mark: its words in another spelling, followed by nothing, another
// comment, or a text that looks like a directive.
var likeMark = regexp.MustCompile(`(?i)^/[/*]\s*` + likeName +
	`\s*[:/_=-]?\s*(kernels?[\s:=("]+[a-z_][\w.:]*[")]*(\s+\w+=\w+)*(\s+as\s+\w+)?|observe|make|options)\s*(//.*|\*/)?$` +
	`|^//` + likeName + `(:\S|\s+[a-z_]\w*(::\w+)?(\.\w+)?$)`)

// likeName matches opassert with typical misspellings.
const likeName = `(?:go:)?(?:op+[-_]?as*[ert]{2,3}|passert)`

func whyUnread(c *ast.Comment) string {
	if a, ok := parseAllow(c); ok {
		var names []string
		for _, f := range Findings {
			names = append(names, f.Code, f.Name)
		}
		if _, _, err := plan.ParseCheck(a.Check, names...); err != nil {
			return err.Error()
		}
		return a.Check + " is about running kernels, but this is not in a kernel's doc comment; " +
			"put it beside the mark " + mark
	}
	if parseMark(strings.TrimPrefix(c.Text, mark), c.Pos()).Wrong == nil || directives[c.Text] != nil {
		return "it is not in a function's doc comment; put it directly above the function"
	}
	return "it is not written like one; write " + mark + " add.Tensor, " + observeMark + ", " + makeMark + ", " +
		optionsMark + " or " + allowMark + " OA009 reason, without a space after //"
}

// unreadIn returns comments like marks in a Go file that is not part of the package. A file that
// can't be parsed has none.
func unreadIn(fset *token.FileSet, path, why string) []Unread {
	text, _ := os.ReadFile(path)
	if !bytes.Contains(text, []byte("opassert")) { //mutate:equivalent true: only saves time
		return nil
	}
	file, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	marks, unread := Marks(file)
	for _, m := range marks {
		unread = append(unread, Unread{m.Pos, why})
	}
	return unread
}

// directives are the marks without an op, each with a function that returns why a function can't have it, or "".
var directives = map[string]func(*types.Func) string{
	observeMark: unfitObserver, makeMark: unfitMaker, optionsMark: unfitOptions,
}

// A Directed function has a mark without an op.
type Directed struct {
	Directive string
	Func      *types.Func
}

// Directives returns the functions of a file with such a mark, and the marks of functions that can't have them.
func Directives(file *ast.File, info *types.Info) (fit []Directed, unfit []Unread) {
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Doc == nil {
			continue
		}
		for _, c := range fn.Doc.List {
			check, marked := directives[c.Text]
			f, typed := info.Defs[fn.Name].(*types.Func)
			if !marked ||
				!typed { //mutate:equivalent true: with type information, each function has one
				continue
			}
			if why := cmp.Or(Uncallable(f), check(f)); why != "" {
				unfit = append(unfit, Unread{fn.Name.Pos(), strings.TrimPrefix(c.Text, "//") + ": " + fn.Name.Name + " " + why})
			} else {
				fit = append(fit, Directed{c.Text, f})
			}
		}
	}
	return fit, unfit
}
