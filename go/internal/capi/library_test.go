package capi

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestAMissingLibraryIsReportedWithTheCommandThatBuildsIt(t *testing.T) {
	header, err := os.ReadFile("library.h")
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "library.h")
	if err := os.WriteFile(copied, header, 0o600); err != nil {
		t.Fatal(err)
	}
	output, err := exec.Command("cc", "-fsyntax-only", "-x", "c", copied).CombinedOutput()
	if err == nil || !strings.Contains(string(output), "run go/build.sh in the clone of Gavel first") {
		t.Errorf("%v: %s", err, output)
	}
}

func TestThePackageKnowsItsLibrary(t *testing.T) {
	library, err := os.ReadFile("lib/libgavel_capi.a")
	if err != nil {
		t.Fatal(err)
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(library)); build != sum {
		t.Errorf("the package was built for the library %s, not %s", build, sum)
	}
}
