package optest

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/opassert/opassert/asserts"
	"github.com/opassert/opassert/asserts/maker"
	"github.com/opassert/opassert/asserts/suite"
)

// A Job is the request of `opassert check` to a program that calls [Serve].
type Job struct {
	Engine    string                      `json:"engine"` // its name in reports
	Level     asserts.Level               `json:"level"`
	Seed      uint64                      `json:"seed"`
	Cases     string                      `json:"cases,omitempty"`     // a file of cases
	Namespace string                      `json:"namespace,omitempty"` // of ops, in place of their own
	Waived    map[string][]asserts.Excuse `json:"waived,omitempty"`    // by op
	Notes     map[string][]asserts.Excuse `json:"notes,omitempty"`     // by op
}

// JobVariable holds the Job as JSON.
const JobVariable = "OPASSERT_JOB"

// Serve answers the requests of `opassert check`, until there are no more. Only programs that it generates call Serve.
func Serve[T any](kernels []asserts.Kernel, newTensor func(maker.Spec) (T, error), options ...maker.Option) {
	if err := serve(kernels, newTensor, options); err != nil {
		suite.Refuse(err)
		os.Exit(2)
	}
}

func serve[T any](kernels []asserts.Kernel, newTensor func(maker.Spec) (T, error), options []maker.Option) error {
	var job Job
	if err := json.Unmarshal([]byte(os.Getenv(JobVariable)), &job); err != nil {
		return fmt.Errorf("%s: %w; only opassert check runs this program", JobVariable, err)
	}
	l, err := open(kernels, newTensor, job, options)
	if err != nil {
		return err
	}
	config := l.config()
	if job.Cases != "" {
		text, err := os.ReadFile(job.Cases)
		if err != nil {
			return err
		}
		if config.Cases, err = suite.ParseRecipes(job.Cases, text); err != nil {
			return err
		}
	}
	return suite.Serve(l.engine, config)
}
