package cli

import (
	"fmt"

	"github.com/opassert/opassert/asserts/libtorch"
	"github.com/opassert/opassert/schema"
)

var dumpCommand = command{
	name:    "dump",
	summary: "write the schemas of a live libtorch as YAML",
	run:     runDump,
}

func runDump(inv *invocation) error {
	namespace := inv.flags.String("ns", "", "")
	torch := newTorchFlags(inv.flags, newLibtorchFlag(inv.flags))
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if err := torch.use(inv); err != nil {
		return err
	}
	for _, path := range torch.Files {
		if err := libtorch.LoadLibrary(path); err != nil {
			return fmt.Errorf("load %s: %w", path, err)
		}
	}
	return libtorch.Dump(inv.stdout, *namespace, func(file []byte) error {
		_, err := schema.Config{Strict: true}.Parse("dump", file, nil)
		return err
	})
}
