// Gavel-batch speaks the batch protocol through the Go module. It reads one JSON request per line from standard input, and writes one
// answer per line to standard output. Each operation (eval, crd, validate, vap) uses the API that Go hosts use, so that recorded answers of
// Kubernetes test the module.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// maxLine is the limit of the length of a request, in bytes.
const maxLine = 1 << 30

type object = map[string]any

func main() {
	if len(os.Args) > 2 || len(os.Args) == 2 && os.Args[1] != "batch" {
		fmt.Fprintln(os.Stderr, "usage: gavel-batch [batch] < REQUESTS")
		os.Exit(2)
	}
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gavel-batch:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 1<<16), maxLine)
	answers := bufio.NewWriter(out)
	encoder := json.NewEncoder(answers)
	encoder.SetEscapeHTML(false)
	session := newSession()
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := encoder.Encode(session.answer(lines.Bytes())); err != nil {
			return err
		}
		if err := answers.Flush(); err != nil {
			return err
		}
	}
	return lines.Err()
}

// request contains the keys that all operations share.
type request struct {
	ID     json.RawMessage `json:"id"`
	Op     string          `json:"op"`
	Server string          `json:"server"`
	// Language is the version of Kubernetes whose functions expressions can use. Empty means the default of the operation.
	Language string `json:"k8sVersion"`
	Mode     string `json:"mode"`
}

// server returns the version of the API server to reproduce.
func (r *request) server() string {
	if r.Server == "" {
		return "1.36"
	}
	return r.Server
}

func (s *session) answer(line []byte) object {
	var common request
	if err := json.Unmarshal(line, &common); err != nil {
		return object{"ok": false, "error": problem("request", err)}
	}
	answer, err := s.dispatch(&common, line)
	if err != nil {
		answer = object{"ok": false, "error": problem("request", err)}
	}
	answer["id"] = common.ID
	return answer
}

func (s *session) dispatch(common *request, line []byte) (object, error) {
	switch common.Op {
	case "eval":
		return s.eval(line)
	case "crd":
		return s.definition(common, line)
	case "validate":
		return s.validate(common, line)
	case "vap":
		return decide(common, line)
	}
	return nil, fmt.Errorf("op must be set; gavel-batch knows \"eval\", \"crd\", \"validate\", \"vap\"")
}

func problem(phase string, err error) object {
	return object{"phase": phase, "message": err.Error()}
}
