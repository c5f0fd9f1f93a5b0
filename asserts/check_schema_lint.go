package asserts

// SchemaLint is OA012. Package schema finds its violations: no call is needed.
const SchemaLint Code = 12

var _ = add(checkRow{
	code:   SchemaLint,
	name:   "schema-lint",
	rule:   "a schema's name and its alias annotations agree",
	breaks: "readers and code generators draw different promises from the same schema",
	level:  Off,
	skips:  reliable,
})
