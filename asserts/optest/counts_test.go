package optest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/maker"
	"github.com/opassert/opassert/asserts/optest"
	"github.com/opassert/opassert/asserts/preserve"
)

// A counted tensor has a count of its own, and its memory one that views share.
type counted struct {
	uses   int32
	memory *memory
	token  preserve.Token
}

type memory struct {
	uses int32
	data []float32
}

var handles = preserve.NewRegistry("optest_test.counted")

// newCounted returns a tensor that the collector never frees, only its Release.
func newCounted(m *memory) *counted {
	m.uses++
	return &counted{1, m, handles.Made(4)}
}

func (c *counted) Observe(o *asserts.Observation, level asserts.Level) {
	if o.Impl, o.ImplUses, o.Traits = asserts.PointerID(c), c.uses, asserts.NoVersion; c.memory == nil {
		return
	}
	o.Storage, o.StorageUses = asserts.PointerID(c.memory), c.memory.uses
	if level >= asserts.Content {
		asserts.ReadSlice(o, c.memory.data, []int64{int64(len(c.memory.data))}, []int64{1}, 0)
	}
}

func (c *counted) retain() *counted { c.uses++; return c }

func (c *counted) release() {
	if c.uses--; c.uses == 0 {
		c.memory.uses--
		c.memory = nil
		handles.Release(c.token)
	}
}

var errLong = errors.New("too long")

// refuse returns the error of a kernel for more than two elements.
func (c *counted) refuse() error {
	if len(c.memory.data) > 2 {
		return errLong
	}
	return nil
}

func (c *counted) clone() *counted { return newCounted(&memory{data: slices.Clone(c.memory.data)}) }

var pool []*counted // of a library that keeps what it makes first

// Kernels with a fault.

func retains(c *counted) (*counted, error) {
	c.retain()
	if err := c.refuse(); err != nil {
		return nil, err
	}
	defer c.release()
	return c.clone(), nil
}

func panics(c *counted) *counted {
	c.retain()
	if err := c.refuse(); err != nil {
		panic(err)
	}
	c.release()
	return c.clone()
}

func keepsAView(c *counted) (*counted, error) {
	view := newCounted(c.memory)
	if err := c.refuse(); err != nil {
		return nil, err
	}
	view.release()
	return c.clone(), nil
}

func returnsAViewWithTheError(c *counted) (*counted, error) {
	if err := c.refuse(); err != nil {
		return newCounted(c.memory), err
	}
	return c.clone(), nil
}

func releases(c *counted) (*counted, error) {
	if err := c.refuse(); err != nil {
		c.release()
		return nil, err
	}
	return c.clone(), nil
}

func leavesItsResult(c *counted) (*counted, error) {
	result := c.clone()
	return result, c.refuse()
}

func leavesItsResultInAPanic(c *counted) *counted {
	result := c.clone()
	if err := c.refuse(); err != nil {
		panic(err)
	}
	return result
}

// Kernels without one.

func refusesFirst(c *counted) (*counted, error) {
	if err := c.refuse(); err != nil {
		return nil, err
	}
	return c.clone(), nil
}

func releasesByDefer(c *counted) (*counted, error) {
	defer c.retain().release()
	view := newCounted(c.memory)
	defer view.release()
	if err := c.refuse(); err != nil {
		return nil, err
	}
	return c.clone(), nil
}

func releasesByDeferInAPanic(c *counted) *counted {
	defer c.retain().release()
	if err := c.refuse(); err != nil {
		panic(err)
	}
	return c.clone()
}

func releasesItsResult(c *counted) (*counted, error) {
	result := c.clone()
	if err := c.refuse(); err != nil {
		result.release()
		return nil, err
	}
	return result, nil
}

func keepsWhatItMakesFirst(c *counted) (*counted, error) {
	if len(pool) == 0 {
		pool = append(pool, c.clone())
	}
	if err := c.refuse(); err != nil {
		return nil, err
	}
	return c.clone(), nil
}

// What is found.
const (
	retained = "OA016 argument self has a reference that it did not have before the call: number of references 1 -> 2"
	viewed   = "OA016 the memory of argument self has a reference that it did not have before the call: number of references 1 -> 2"
	freed    = "OA002 argument self was in memory #2 before the call and is on none after it: it was released once too often, " +
		"number of references 1 -> 0"
	left = "OA016 a handle of optest_test.counted, made by github.com/opassert/opassert/asserts/optest_test.newCounted, " +
		"has a reference left"
)

// A kernel that returns an error or panics leaves the counts of its arguments as they were, and nothing that it made.
func TestCountsOfFailedCalls(t *testing.T) {
	for name, tt := range map[string]struct {
		kernel any
		want   string
		debug  bool // found through a registry
	}{
		"retains":                  {retains, retained, false},
		"panics":                   {panics, retained, false},
		"keepsAView":               {keepsAView, viewed, false},
		"returnsAViewWithTheError": {returnsAViewWithTheError, viewed, false},
		"releases":                 {releases, freed, false},
		"leavesItsResult":          {leavesItsResult, left, true},
		"leavesItsResultInAPanic":  {leavesItsResultInAPanic, left, true},
		"refusesFirst":             {refusesFirst, "", false},
		"releasesByDefer":          {releasesByDefer, "", false},
		"releasesByDeferInAPanic":  {releasesByDeferInAPanic, "", false},
		"releasesItsResult":        {releasesItsResult, "", false},
		"keepsWhatItMakesFirst":    {keepsWhatItMakesFirst, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.debug && !asserts.Enabled {
				t.Skip("handles are followed in the debug build: go test -tags opassert")
			}
			pool = nil
			kernels := []asserts.Kernel{{Op: functional("f"), Func: tt.kernel}}
			lines := reported(func(t *testing.T) {
				optest.Run(t, kernels, func(s maker.Spec) (*counted, error) {
					data, err := maker.Elements[float32](s, 1)
					return newCounted(&memory{data: data}), err
				}, maker.Release((*counted).release))
			})
			got := strings.Join(lines, "\n")
			if len(lines) == 2 { // one finding
				got = lines[0][:len("OA016 ")] + strings.TrimPrefix(lines[1], "  saw     ")
			}
			if want := tt.want + ", and then it failed: too long"; got != want && got+tt.want != "" {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	}
}
