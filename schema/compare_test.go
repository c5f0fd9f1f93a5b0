package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/schema"
)

func TestCompare(t *testing.T) {
	for _, tt := range []struct{ name, file, live, want string }{
		{"the same", "f(Tensor self) -> Tensor", "f(Tensor self) -> Tensor", ""},
		{"types with two names", "f(Dimname[]? names, DeviceIndex i=-1, Dimname[1] n) -> Dimname", "f(str[]? names, int i=-1, str[1] n) -> str", ""},
		{"numbers", "f(float a=1, float b=1e-05, float? c=10.0, Scalar s=1.5, float[2] d=0, int[2] e=1) -> ()",
			"f(float a=1.0, float b=1.0000000000000001e-05, float? c=1e+01, Scalar s=1.50, float[2] d=[0.0, 0.0], int[2] e=[1, 1]) -> ()", ""},
		{"names of numbers", "f(int r=Mean, int? s=Sum, MemoryFormat m=contiguous_format, Layout? l=strided) -> ()", "f(int r=1, int? s=2, MemoryFormat m=0, Layout? l=0) -> ()", ""},
		{"quotes", `f(str a='none', str b="\"'\\", Device d='cpu') -> ()`, `f(str a="none", str b='"\'\\', Device d="cpu") -> ()`, ""},
		{"a newline, escaped two ways", `f(str a='\n') -> ()`, `f(str a="\x0a") -> ()`, ""},
		{"spelling of booleans", "f(bool a=True, bool[3] m=False) -> ()", "f(bool a=true, bool[3] m=[false, false, false]) -> ()", ""},
		{"letters", "f(Tensor(b) self, Tensor(a!) x) -> Tensor(b)", "f(Tensor(a) self, Tensor(c!) x) -> Tensor(a)", ""},

		{"words for numbers", "f(float a=some, int n=5, bool b=maybe) -> ()", "f(float a=0.0, int n=6, bool b=False) -> ()",
			"default values: default value of a: some against 0.0; default values: default value of n: 5 against 6; default values: default value of b: maybe against False"},
		{"a text and none", "f(str? a='None') -> ()", "f(str? a=None) -> ()", "default values: default value of a: 'None' against None"},
		{"half a text", `f(str a='\q') -> ()`, `f(str a="\q") -> ()`, `default values: default value of a: '\q' against "\q"`},
		{"backslashes before quotes", `f(str a='\\\'"') -> ()`, `f(str a="\\'\"") -> ()`, ""},
		{"letters of other scripts", `f(str a='é') -> ()`, `f(str a="\xc3\xa9") -> ()`, ""},
		{"a number for a list of no size", "f(int[] e=0) -> ()", "f(int[] e=[]) -> ()", "default values: default value of e: 0 against []"},
		{"two numbers for a list of no size", "f(int[] e=0) -> ()", "f(int[] e=1) -> ()", "default values: default value of e: 0 against 1"},
		{"a longer list", "f(int[] e=[1]) -> ()", "f(int[] e=[1, 1]) -> ()", "default values: default value of e: [1] against [1, 1]"},
		{"the wildcard", "f(Tensor(a -> *) self) -> ()", "f(Tensor(a -> b) self) -> ()", "alias sets: alias sets of self: (a -> *) against (a -> b)"},
		{"a return", "f() -> Tensor", "f() -> ()", "arguments: 0 arguments and 1 returns against 0 and 0"},
		{"any arguments", "f(...) -> ()", "f() -> ()", "arguments: 0 arguments and 0 returns against 0 and 0"},
		{"any returns", "f() -> ...", "f() -> ()", "arguments: 0 arguments and 0 returns against 0 and 0"},
		{"dictionaries", "f(Dict(str, Dimname) d={}) -> ()", "f(Dict(str, str) d={}) -> ()", ""},
		{"a number", "f(float p=2) -> ()", "f(float p=3) -> ()", "default values: default value of p: 2 against 3"},
		{"a scalar's type", "f(Scalar p=1) -> ()", "f(Scalar p=1.0) -> ()", "default values: default value of p: 1 against 1.0"},
		{"a large scalar", "f(Scalar p=1) -> ()", "f(Scalar p=1e+30) -> ()", "default values: default value of p: 1 against 1e+30"},
		{"none", "f(int? p=None) -> ()", "f(int? p=0) -> ()", "default values: default value of p: None against 0"},
		{"no default value", "f(int p) -> ()", "f(int p=0) -> ()", "default values: default value of p: none against 0"},
		{"a text", `f(str a='none') -> ()`, `f(str a="None ") -> ()`, `default values: default value of a: 'none' against "None "`},
		{"a list", "f(int[2] e=1) -> ()", "f(int[2] e=[1, 2]) -> ()", "default values: default value of e: 1 against [1, 2]"},
		{"a list of no size", "f(int[] e=[]) -> ()", "f(int[] e=[0]) -> ()", "default values: default value of e: [] against [0]"},
		{"a type", "f(SymInt n) -> Tensor", "f(int n) -> Tensor?", "types: type of n: SymInt against int; types: type of return 0: Tensor against Tensor?"},
		{"a name", "f(Tensor self) -> Tensor a", "f(Tensor input) -> Tensor", "names: name of an argument: self against input; names: name of return 0: a against none"},
		{"other sets", "f(Tensor(a) self, Tensor(b) x) -> Tensor(a)", "f(Tensor(a) self, Tensor(b) x) -> Tensor(b)", "alias sets: alias sets of return 0: (a) against (b)"},
		{"a write", "f(Tensor(a!) self) -> ()", "f(Tensor(a) self) -> ()", "alias sets: alias sets of self: (a!) against (a)"},
		{"an escape", "f(Tensor(a -> *) self) -> ()", "f(Tensor(a) self) -> ()", "alias sets: alias sets of self: (a -> *) against (a)"},
		{"no set", "f(Tensor(a) self) -> ()", "f(Tensor self) -> ()", "alias sets: alias sets of self: (a) against none"},
		{"keyword-only", "f(Tensor self, *, int n) -> ()", "f(Tensor self, int n) -> ()", "arguments: n is keyword-only in one of them"},
		{"one more", "f(Tensor self) -> ()", "f(Tensor self, int n) -> ()", "arguments: 1 arguments and 0 returns against 2 and 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := must.Get(schema.ParseDispatcher("aten::" + tt.file))(t)
			live := must.Get(schema.ParseDispatcher("aten::" + tt.live))(t)
			var got []string
			for _, d := range schema.Compare(file.Func, live.Func) {
				got = append(got, fmt.Sprintf("%s: %s", d.Kind, d.Text))
			}
			if text := strings.Join(got, "; "); text != tt.want {
				t.Errorf("%s\nwant\n%s", text, tt.want)
			}
			if back := schema.Compare(live.Func, file.Func); len(back) != len(got) {
				t.Errorf("%d differences one way, %d the other", len(got), len(back))
			}
		})
	}
}
