/* The header of the C library, which ../../build.sh copies here. */
#if !__has_include("gavel.h")
#error "run go/build.sh in the clone of Gavel first: it builds the C library"
#else
#include "build_mark.h"
#include "gavel.h"
#endif
