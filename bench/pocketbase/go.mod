module pocketbase-for-bench

go 1.26

require github.com/pocketbase/pocketbase v0.36.8
