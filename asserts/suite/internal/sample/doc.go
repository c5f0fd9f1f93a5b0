// Package sample represents a call as plain data: a [Case] is an op and a [Value] for each
// argument. Cases are parsed from and printed as the text of a file of cases.
package sample
