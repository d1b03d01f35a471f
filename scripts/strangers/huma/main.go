// Makers and cars with Huma on net/http, with optimistic locking by ETag, and data in memory.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/danielgtaylor/huma/v2/conditional"
)

type MakerInput struct {
	Name    string `json:"name" minLength:"1" maxLength:"60" example:"Alba"`
	Country string `json:"country" pattern:"^[A-Z]{2}$" example:"IT"`
}

type Maker struct {
	ID string `json:"id" readOnly:"true"`
	MakerInput
}

type CarInput struct {
	Model   string   `json:"model" minLength:"1" maxLength:"80"`
	Plate   string   `json:"plate" pattern:"^[A-Z]{3}-[0-9]{3}$" example:"ABC-123"`
	Year    int      `json:"year" minimum:"1900" maximum:"2100"`
	Fuel    string   `json:"fuel" enum:"petrol,diesel,electric"`
	Options []string `json:"options,omitempty"`
	MakerID string   `json:"makerId"`
}

type Car struct {
	ID string `json:"id" readOnly:"true"`
	CarInput
}

// Row is a stored record with what conditions need.
type Row[R any] struct {
	Record   R
	Revision int
	Changed  time.Time
}

func (row Row[R]) etag() string { return fmt.Sprintf("r%d", row.Revision) }

// Table keeps records in the order of their creation.
type Table[R any] struct {
	prefix string
	next   int
	ids    []string
	rows   map[string]Row[R]
}

func (table *Table[R]) newID() string {
	table.next++
	return fmt.Sprintf("%s_%06d", table.prefix, table.next)
}

func (table *Table[R]) put(id string, record R) Row[R] {
	old, exists := table.rows[id]
	if !exists {
		table.ids = append(table.ids, id)
	}
	row := Row[R]{record, old.Revision + 1, time.Now().UTC().Truncate(time.Second)}
	table.rows[id] = row
	return row
}

func (table *Table[R]) remove(id string) {
	delete(table.rows, id)
	table.ids = slices.DeleteFunc(table.ids, func(other string) bool { return other == id })
}

type PageInput struct {
	Cursor string `query:"cursor" doc:"The last identifier of the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"50" default:"10"`
}

type Page[R any] struct {
	Link string `header:"Link"`
	Body struct {
		Items []R `json:"items"`
		Total int `json:"total"`
	}
}

type One[R any] struct {
	Location string    `header:"Location"`
	ETag     string    `header:"ETag"`
	Modified time.Time `header:"Last-Modified"`
	Body     R
}

func one[R any](row Row[R]) *One[R] {
	return &One[R]{ETag: `"` + row.etag() + `"`, Modified: row.Changed, Body: row.Record}
}

type ID struct {
	ID string `path:"id"`
}

var lock sync.Mutex

// resource registers the operations of one collection.
func resource[I, R any](api huma.API, name string, table *Table[R], build func(string, I) R, check func(string, I) error, inUse func(string) bool) {
	find := func(id string) (Row[R], error) {
		row, exists := table.rows[id]
		if !exists {
			return row, huma.Error404NotFound(name + " " + id + " does not exist")
		}
		return row, nil
	}
	path := "/" + name

	huma.Get(api, path, func(_ context.Context, input *PageInput) (*Page[R], error) {
		lock.Lock()
		defer lock.Unlock()
		start := slices.Index(table.ids, input.Cursor) + 1
		end := min(start+input.Limit, len(table.ids))
		page := &Page[R]{}
		page.Body.Items = []R{}
		page.Body.Total = len(table.ids)
		for _, id := range table.ids[start:end] {
			page.Body.Items = append(page.Body.Items, table.rows[id].Record)
		}
		if end < len(table.ids) {
			page.Link = fmt.Sprintf(`<%s?cursor=%s&limit=%d>; rel="next"`, path, table.ids[end-1], input.Limit)
		}
		return page, nil
	})

	huma.Register(api, huma.Operation{
		OperationID: "create-" + name, Method: http.MethodPost, Path: path, DefaultStatus: http.StatusCreated,
	}, func(_ context.Context, input *struct{ Body I }) (*One[R], error) {
		lock.Lock()
		defer lock.Unlock()
		if err := check("", input.Body); err != nil {
			return nil, err
		}
		id := table.newID()
		created := one(table.put(id, build(id, input.Body)))
		created.Location = path + "/" + id
		return created, nil
	})

	huma.Get(api, path+"/{id}", func(_ context.Context, input *struct {
		ID
		conditional.Params
	}) (*One[R], error) {
		lock.Lock()
		defer lock.Unlock()
		row, err := find(input.ID.ID)
		if err != nil {
			return nil, err
		}
		if input.HasConditionalParams() {
			if err := input.PreconditionFailed(row.etag(), row.Changed); err != nil {
				return nil, err
			}
		}
		return one(row), nil
	})

	huma.Put(api, path+"/{id}", func(_ context.Context, input *struct {
		ID
		conditional.Params
		Body I
	}) (*One[R], error) {
		lock.Lock()
		defer lock.Unlock()
		row, err := find(input.ID.ID)
		if err != nil {
			return nil, err
		}
		if input.HasConditionalParams() {
			if err := input.PreconditionFailed(row.etag(), row.Changed); err != nil {
				return nil, err
			}
		}
		if err := check(input.ID.ID, input.Body); err != nil {
			return nil, err
		}
		return one(table.put(input.ID.ID, build(input.ID.ID, input.Body))), nil
	})

	huma.Delete(api, path+"/{id}", func(_ context.Context, input *struct {
		ID
		conditional.Params
	}) (*struct{}, error) {
		lock.Lock()
		defer lock.Unlock()
		row, err := find(input.ID.ID)
		if err != nil {
			return nil, err
		}
		if input.HasConditionalParams() {
			if err := input.PreconditionFailed(row.etag(), row.Changed); err != nil {
				return nil, err
			}
		}
		if inUse(input.ID.ID) {
			return nil, huma.Error409Conflict("other records refer to this one")
		}
		table.remove(input.ID.ID)
		return nil, nil
	})
}

func main() {
	mux := http.NewServeMux()
	config := huma.DefaultConfig("Garage", "1.0.0")
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"bearer": {Type: "http", Scheme: "bearer"}}
	config.Security = []map[string][]string{{"bearer": {}}}
	api := humago.New(mux, config)
	api.UseMiddleware(func(ctx huma.Context, next func(huma.Context)) {
		scheme, key, _ := strings.Cut(ctx.Header("Authorization"), " ")
		if !strings.EqualFold(scheme, "bearer") || key != "garage-5" {
			ctx.SetHeader("WWW-Authenticate", "Bearer")
			_ = huma.WriteErr(api, ctx, http.StatusUnauthorized, "a key is required")
			return
		}
		next(ctx)
	})

	makers := &Table[Maker]{prefix: "mak", rows: map[string]Row[Maker]{}}
	cars := &Table[Car]{prefix: "car", rows: map[string]Row[Car]{}}
	resource(api, "makers", makers,
		func(id string, input MakerInput) Maker { return Maker{id, input} },
		func(id string, input MakerInput) error {
			for other, row := range makers.rows {
				if other != id && row.Record.Name == input.Name {
					return huma.Error409Conflict("name is already in use")
				}
			}
			return nil
		},
		func(id string) bool {
			for _, row := range cars.rows {
				if row.Record.MakerID == id {
					return true
				}
			}
			return false
		})
	resource(api, "cars", cars,
		func(id string, input CarInput) Car { return Car{id, input} },
		func(id string, input CarInput) error {
			if _, exists := makers.rows[input.MakerID]; !exists {
				detail := &huma.ErrorDetail{Message: "no such maker", Location: "body.makerId", Value: input.MakerID}
				return huma.Error422UnprocessableEntity("validation failed", detail)
			}
			for other, row := range cars.rows {
				if other != id && row.Record.Plate == input.Plate {
					return huma.Error409Conflict("plate is already in use")
				}
			}
			return nil
		},
		func(string) bool { return false })

	for number, name := range []string{"Alba", "Boreal", "Corvo"} {
		id := makers.newID()
		makers.put(id, Maker{id, MakerInput{name, "IT"}})
		for count := range 6 {
			car := cars.newID()
			plate := fmt.Sprintf("%s-%d%02d", strings.ToUpper(name[:3]), number+1, count)
			cars.put(car, Car{car, CarInput{Model: fmt.Sprintf("%s %d", name, count), Plate: plate, Year: 2010 + count, Fuel: "electric", MakerID: id}})
		}
	}
	if err := http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), mux); err != nil {
		fmt.Println(err)
	}
}
