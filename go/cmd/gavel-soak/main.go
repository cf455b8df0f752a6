// Gavel-soak makes calls of all sorts from many goroutines, cancels some, and holds that answers are right and memory stays flat. It
// tells what the process holds as it goes on.
//
//	gavel-soak -calls 10000000 -goroutines 64
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// slack bounds, in bytes, how much memory may grow after the first tenth of the calls: allocators keep some of what is freed.
const slack = 32 << 20

func main() {
	calls := flag.Int64("calls", 10_000_000, "calls that are made")
	goroutines := flag.Int("goroutines", 64, "goroutines that make them")
	flag.Parse()
	if err := soak(*calls, *goroutines); err != nil {
		fmt.Fprintln(os.Stderr, "gavel-soak:", err)
		os.Exit(1)
	}
}

func soak(calls int64, goroutines int) error {
	kinds, err := newKinds()
	if err != nil {
		return err
	}
	var made atomic.Int64
	var failed atomic.Pointer[error]
	counts := make([]atomic.Int64, len(kinds))
	var group sync.WaitGroup
	for worker := range goroutines {
		group.Go(func() {
			for n := int64(worker) * 1_000_003; failed.Load() == nil && made.Add(1) <= calls; n++ {
				which := choose(kinds, n)
				if err := kinds[which].call(n); err != nil {
					err = fmt.Errorf("%s: %w", kinds[which].name, err)
					failed.CompareAndSwap(nil, &err)
					return
				}
				counts[which].Add(1)
			}
		})
	}
	over := make(chan struct{})
	go func() {
		group.Wait()
		close(over)
	}()
	first, last := watch(&made, calls, over)
	if err := failed.Load(); err != nil {
		return *err
	}
	for n, kind := range kinds {
		fmt.Printf("%12d %s\n", counts[n].Load(), kind.name)
	}
	fmt.Printf("%.1f MB after the first tenth, %.1f MB at the end\n", megabytes(first), megabytes(last))
	if first == 0 {
		return errors.New("memory was not measured after the first tenth: there were too few calls, or there is no /proc/self/statm")
	}
	if last > first+slack {
		return fmt.Errorf("memory grew by %.1f MB", megabytes(last-first))
	}
	return nil
}

// choose picks the kind of a call: of each thousand as many as its share.
func choose(kinds []kind, n int64) int {
	place := int(n * 7919 % 1000)
	for which, kind := range kinds {
		if place < kind.share {
			return which
		}
		place -= kind.share
	}
	return 0
}

// watch tells the memory at each tenth, and returns it after the first and at the end.
func watch(made *atomic.Int64, calls int64, over chan struct{}) (first, last int) {
	began := time.Now()
	tell := func() int {
		held := resident()
		fmt.Printf("%12d calls %8.1f MB %8.1f s\n", min(made.Load(), calls), megabytes(held), time.Since(began).Seconds())
		return held
	}
	for tenth := int64(1); ; {
		select {
		case <-over:
			return first, tell()
		case <-time.After(10 * time.Millisecond):
		}
		if made.Load() < calls/10*tenth {
			continue
		}
		if held := tell(); tenth == 1 {
			first = held
		}
		tenth++
	}
}

// resident is the memory that the process holds, in bytes, after Go's collector ran; 0 where that is not known.
func resident() int {
	runtime.GC()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _ := strconv.Atoi(strings.Fields(string(text))[1])
	return pages * os.Getpagesize()
}

func megabytes(bytes int) float64 { return float64(bytes) / 1e6 }
