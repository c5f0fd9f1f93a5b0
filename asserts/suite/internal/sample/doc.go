// Package sample has a call as plain data: a [Case] is an op and a [Value] for
// each argument. Cases are read from and printed as the text of a file of cases.
package sample
