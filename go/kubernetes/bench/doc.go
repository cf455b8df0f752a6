// Package bench benchmarks Gavel against Kubernetes' own code. `.ci/go-bench` runs the benchmarks and prints the ratios.
package bench

/*
#include <malloc.h>

static size_t allocated(void) {
	struct mallinfo2 all = mallinfo2();
	return all.uordblks + all.hblkhd;
}
*/
import "C"

// allocated returns the memory in use in C's heap, in bytes. Gavel allocates its memory there.
func allocated() int { return int(C.allocated()) }
