// Package bench benchmarks Gavel against the code that is built into Kubernetes. `.ci/go-bench` runs both and prints the ratios.
package bench

/*
#include <malloc.h>

static size_t allocated(void) {
	struct mallinfo2 all = mallinfo2();
	return all.uordblks + all.hblkhd;
}
*/
import "C"

// allocated returns the bytes in use of C's allocator, from which Gavel takes its memory.
func allocated() int { return int(C.allocated()) }
