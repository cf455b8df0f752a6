// Package bench holds benchmarks of Gavel beside the code that Kubernetes has built in: .ci/go-bench runs both and tells the ratios.
package bench

/*
#include <malloc.h>

static size_t allocated(void) {
	struct mallinfo2 all = mallinfo2();
	return all.uordblks + all.hblkhd;
}
*/
import "C"

// allocated is what C's allocator has given out, in bytes: what Gavel holds.
func allocated() int { return int(C.allocated()) }
