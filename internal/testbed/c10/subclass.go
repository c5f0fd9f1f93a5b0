package c10

import "github.com/opassert/opassert/asserts"

func (x *TensorImpl) traits() asserts.Traits {
	traits := kindTraits[x.kind]
	if x.device == Meta {
		traits |= asserts.MetaTensor
	}
	if x.version == nil {
		traits |= asserts.NoVersion
	}
	return traits
}

var kindTraits = [...]asserts.Traits{
	Plain:            0,
	DirectSubclass:   asserts.DirectSubclass,
	Functional:       asserts.FunctionalWrapper,
	WrapperSubclass:  asserts.WrapperSubclass,
	ReportingWrapper: asserts.WrapperSubclass | asserts.ReportsViews,
}
