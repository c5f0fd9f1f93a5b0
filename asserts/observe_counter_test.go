package asserts_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/opassert/opassert/asserts"
)

type counted struct {
	_     [3]int16
	older uint32
	uses  atomic.Int64
}

type wrapped struct {
	name string
	counted
}

type behind struct{ *counted } //lint:ignore U1000 read by reflection

func TestCounter(t *testing.T) {
	w := &wrapped{name: "w", counted: counted{older: 3}}
	w.uses.Store(2)
	if n := asserts.Counter[wrapped]("uses")(w); n != 2 {
		t.Errorf("uses is %d", n)
	}
	if n := asserts.Counter[counted]("older")(&w.counted); n != 3 {
		t.Errorf("older is %d", n)
	}
	for want, counter := range map[string]func(){
		"has no field refs":         func() { asserts.Counter[counted]("refs") },
		"is of type string":         func() { asserts.Counter[wrapped]("name") },
		"int is not a struct":       func() { asserts.Counter[int]("refs") },
		"uses of asserts_test.behi": func() { asserts.Counter[behind]("uses") },
	} {
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.Contains(p, want) {
					t.Errorf("panics with %s, want %s", p, want)
				}
			}()
			counter()
		}()
	}
}
