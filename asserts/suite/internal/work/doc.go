// Package work makes the calls of a design through an engine, in this process, and judges them: the
// tensors of a case, the call, the same on meta, the results of the previous call, writes of a call
// that threw, and the smallest call that shows a fault.
package work
