module github.com/opassert/opassert/gen/vet/golangci

go 1.26.0

require (
	github.com/golangci/plugin-module-register v0.1.2
	github.com/opassert/opassert v0.0.0
	golang.org/x/tools v0.52.0
)

require (
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

replace github.com/opassert/opassert => ../../..
