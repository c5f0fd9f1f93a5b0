package model_test

import (
	"testing"

	"github.com/opassert/opassert/asserts/preserve"
	"github.com/opassert/opassert/asserts/preserve/internal/model"
	"github.com/opassert/opassert/internal/dev/must"
	"github.com/opassert/opassert/internal/testbed/c10"
)

// The embedded engine's tensors and storages, with its slots and counts.
type embeddedWorld struct{ *embeddedEngine }

func (w *embeddedWorld) NewMachine(p model.Protocol) *model.Machine {
	var m *model.Machine
	m, w.embeddedEngine = newEmbedded(p)
	return m
}

func (w *embeddedWorld) NewImpl(storage bool) model.Ref {
	t := c10.Empty([]int64{2}, c10.TensorOptions{})
	if !storage {
		return w.Tensor(t)
	}
	defer t.Release()
	return w.Storage(t.Storage())
}

func (w *embeddedWorld) OnFree(f func(model.Context, model.Address)) { w.Decref = f }

func TestInterleavingsOfTheEmbeddedEngine(t *testing.T) {
	for seed := range uint64(20) {
		g := model.NewPlayer(seed, &embeddedWorld{}, model.Mended)
		g.Play(2000)
		g.End()
		if g.Check(t); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if g := model.NewPlayer(1, &embeddedWorld{}, model.Faulty); g.Play(100_000) == 100_000 {
		t.Error("the faulty deallocation was not found")
	}
}

// The story of the fault, on a view: its base keeps the storage whose object is deallocated in the
// hermetic context.
func TestEmbeddedStory(t *testing.T) {
	for _, tt := range []struct {
		protocol model.Protocol
		want     []preserve.Code
	}{
		{model.Mended, nil},
		{model.Faulty, []preserve.Code{preserve.SharedDealloc, preserve.UseAfter}},
	} {
		t.Run(tt.protocol.String(), func(t *testing.T) {
			m, e := newEmbedded(tt.protocol)
			var found []preserve.Code
			m.Report = func(v model.Violation) { found = append(found, v.Code) }
			plain := model.Context{Interp: 1}

			base := c10.Empty([]int64{2}, c10.TensorOptions{})
			storage := e.Storage(base.Storage())
			object := must.Get(m.Wrap(plain, storage))(t)
			storage.Release()
			m.Decref(model.Context{Interp: 1, Hermetic: true}, object)

			other := e.Storage(c10.Empty([]int64{3}, c10.TensorOptions{}).Storage())
			if _, err := m.Wrap(plain, other); err != nil { // is made in its memory, if that is free
				t.Fatal(err)
			}
			again := e.Storage(base.Storage())
			if got, err := m.Wrap(plain, again); err != nil || got != object {
				t.Errorf("got object %d, %v", got, err)
			}
			if len(found) != len(tt.want) {
				t.Fatalf("found %v, want %v", found, tt.want)
			}
			for i := range found {
				if found[i] != tt.want[i] {
					t.Errorf("found %v, want %v", found, tt.want)
				}
			}
		})
	}
}
