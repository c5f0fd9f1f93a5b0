package kernels

import _ "embed"

// Schemas is the schema file of the kernels, ops.yaml.
//
//go:embed ops.yaml
var Schemas []byte
