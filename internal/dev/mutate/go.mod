module github.com/opassert/opassert/internal/dev/mutate

go 1.26.0
