module example.com/dense

go 1.26.0

require github.com/opassert/opassert v0.0.0

require (
	gonum.org/v1/gonum v0.17.0
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

replace github.com/opassert/opassert => ../..
