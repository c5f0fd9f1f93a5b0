module example.com/spago

go 1.26.0

require github.com/opassert/opassert v0.0.0

require (
	github.com/google/flatbuffers v23.5.26+incompatible // indirect
	github.com/kr/text v0.2.0 // indirect
	github.com/nlpodyssey/spago v1.1.0
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

replace github.com/opassert/opassert => ../..
