module gavel.dev/go

go 1.26
