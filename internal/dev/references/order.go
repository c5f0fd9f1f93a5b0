package main

import (
	"cmp"
	"slices"
)

// A tally has the references of the files of a package.
type tally struct {
	pkg            string
	within, across int
	up             []reference // the references within the package
}

// count adds up references by package.
func count(all []reference) []tally {
	var tallies []tally
	for len(all) > 0 {
		pkg := all[0].from.pkg
		end := slices.IndexFunc(all, func(r reference) bool { return r.from.pkg != pkg })
		if end < 0 {
			end = len(all)
		}
		inside := slices.DeleteFunc(slices.Clone(all[:end]), func(r reference) bool { return r.to.pkg != pkg })
		tallies = append(tallies, tally{pkg, len(inside), end - len(inside), upward(inside)})
		all = all[end:]
	}
	return tallies
}

// upward returns the references that go up in a good order of the files: each file is
// moved to the position where it has the fewest, until no move helps.
func upward(all []reference) []reference {
	weight := make(map[[2]file]int)
	var order []file
	for _, r := range all {
		weight[[2]file{r.from, r.to}]++
		order = append(order, r.from, r.to)
	}
	slices.SortFunc(order, file.compare)
	order = slices.Compact(order)
	for better := true; better; {
		better = false
		for _, f := range slices.Clone(order) {
			better = move(order, f, weight) || better
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(r reference) bool {
		return slices.Index(order, r.from) < slices.Index(order, r.to)
	})
}

// move puts a file at the position where the fewest of its references go up.
func move(order []file, f file, weight map[[2]file]int) bool {
	at := slices.Index(order, f)
	rest := slices.Delete(slices.Clone(order), at, at+1)
	up := 0 // with f first
	for _, other := range rest {
		up += weight[[2]file{other, f}]
	}
	costs := []int{up}
	for _, other := range rest {
		up += weight[[2]file{f, other}] - weight[[2]file{other, f}]
		costs = append(costs, up)
	}
	best := slices.Index(costs, slices.MinFunc(costs, cmp.Compare[int]))
	if costs[best] == costs[at] {
		return false
	}
	copy(order, slices.Insert(rest, best, f))
	return true
}
