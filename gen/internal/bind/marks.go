package bind

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"regexp"
	"strings"
)

// mark is the directive that makes a function a kernel.
const mark = "//opassert:kernel"

// A Mark is a line of a function's doc comment that makes it a kernel.
type Mark struct {
	Op   string // as the mark names it, "" if it does not name one op
	Pos  token.Pos
	Func *ast.FuncDecl
}

// An Unread comment looks like a mark and is none.
type Unread struct {
	Pos token.Pos
	Why string
}

// Marks returns the marks of a file, parsed with its comments, and the
// comments that look like one, or like a directive, and are not read.
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
				marks = append(marks, Mark{oneWord(rest), c.Pos(), fn})
				read[c] = true
			}
			read[c] = read[c] || directives[c.Text] != nil
		}
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

// oneWord returns the only word behind a mark, or "".
func oneWord(rest string) string {
	words := strings.Fields(rest)
	if len(words) != 1 || rest[0] != ' ' && rest[0] != '\t' {
		return ""
	}
	return words[0]
}

// likeMark matches what was meant for a mark: its words in another spelling, with
// nothing behind them but another comment, or what only a directive looks like.
var likeMark = regexp.MustCompile(`(?i)^/[/*]\s*` + likeName + `\s*[:/_=-]?\s*(kernels?[\s:=("]+[a-z_][\w.:]*[")]*|observe|make|options)\s*(//.*|\*/)?$` +
	`|^//` + likeName + `(:\S|\s+[a-z_]\w*(::\w+)?(\.\w+)?$)`)

// likeName matches opassert, spelled in haste.
const likeName = `(?:go:)?(?:op+[-_]?as*[ert]{2,3}|passert)`

func whyUnread(c *ast.Comment) string {
	if oneWord(strings.TrimPrefix(c.Text, mark)) != "" || directives[c.Text] != nil {
		return "it stands in no function's doc comment; put it right above the function"
	}
	return "it is not spelled as one; write " + mark + " add.Tensor, " + observeMark + ", " + makeMark + " or " + optionsMark + ", with no space behind //"
}

// unreadIn returns what looks like a mark in a Go file that is not part of the
// package. A file that can't be parsed has none.
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

// directives are the marks that name no op: what says of each why a function
// can't have it, or "".
var directives = map[string]func(*types.Func) string{observeMark: unfitObserver, makeMark: unfitMaker, optionsMark: unfitOptions}

// A Directed function has a mark that names no op.
type Directed struct {
	Directive string
	Func      *types.Func
}

// Directives returns the functions of a file with such a mark, and the marks of
// functions that can't have theirs.
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
				!typed { //mutate:equivalent true: where types are checked, each function has one
				continue
			}
			if why := check(f); why != "" {
				unfit = append(unfit, Unread{fn.Name.Pos(), strings.TrimPrefix(c.Text, "//") + ": " + fn.Name.Name + " " + why})
			} else {
				fit = append(fit, Directed{c.Text, f})
			}
		}
	}
	return fit, unfit
}
