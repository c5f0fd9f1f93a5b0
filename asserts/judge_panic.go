package asserts

// If a tensor could be observed before a call, and not after it, the call broke it. No other check judges that tensor.

// broken is a violation about such a tensor.
type broken struct {
	code          Code
	place         Place
	before, after Observation
}

// setAside removes tensors that can no longer be observed from the call.
func (j *judge) setAside() {
	for _, in := range j.inputs {
		if in.after.unobservable() == "" {
			continue
		}
		code := UndeclaredWrite
		if in.Write {
			code = InplaceMetadata
		}
		j.broken = append(j.broken, broken{code, in.place(), in.before, in.after})
		in.before, in.after = Observation{}, Observation{}
	}
	for _, out := range j.outputs {
		if out.unobservable() == "" {
			continue
		}
		if len(j.broken) == 0 { // otherwise it may be the broken argument
			j.broken = append(j.broken, broken{WithinStorage, out.place(), Observation{}, out.Observation})
		}
		out.Observation = Observation{}
		out.subjectPlan = &subjectPlan{Subject: out.Subject} // no check judges it: it is not an undefined tensor
	}
}

// unobservable returns the value with which observing the tensor panicked, or "".
func (o *Observation) unobservable() string {
	if o.Content == nil {
		return ""
	}
	return o.Content.Panic
}

func (j *judge) reportBroken() {
	for _, b := range j.broken {
		v := j.report(b.code, b.place)
		v.Before, v.After = b.before, b.after
		v.locate(b.before.Content)
		v.Saw = b.place.String() + " cannot be observed after the call: " + b.after.unobservable()
	}
}
