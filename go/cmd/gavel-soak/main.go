// Gavel-soak makes calls of all kinds from many goroutines and cancels some of the calls. It checks that answers are right and that memory
// does not grow. It prints the memory of the process after each tenth of the calls.
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

// slack is the tolerated growth of memory after the first tenth of the calls, in bytes. Allocators do not return all freed memory.
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

// choose returns the index of the kind of call number n. Each kind gets its share of the calls.
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

// watch prints the memory after each tenth of the calls, and returns the memory after the first tenth and at the end, in bytes.
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

// resident runs Go's garbage collector and returns the resident memory of the process in bytes, or 0 if it is not known.
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
