package c10

import "testing"

func TestWeak(t *testing.T) {
	x := Empty(nil, f32)
	s := x.Storage()
	wx, ws := x.Weak(), s.Weak()
	s.Release()
	if y, ok := wx.Lock(); !ok || !y.Is(x) {
		t.Errorf("a living tensor can't be locked")
	} else {
		y.Release()
	}
	if y, ok := ws.Lock(); !ok || y.UseCount() != 2 {
		t.Errorf("a living storage can't be locked")
	} else {
		y.Release()
	}
	x.Release()
	if _, ok := wx.Lock(); ok {
		t.Errorf("locked a freed tensor")
	}
	if _, ok := ws.Lock(); ok {
		t.Errorf("locked a freed storage")
	}
	if _, ok := (WeakTensor{}).Lock(); ok {
		t.Errorf("locked nothing")
	}
	if _, ok := (WeakStorage{}).Lock(); ok {
		t.Errorf("locked nothing")
	}
}
