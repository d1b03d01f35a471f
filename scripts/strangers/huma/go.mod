module example.com/garage

go 1.25.0

require github.com/danielgtaylor/huma/v2 v2.37.2
