// Venues and concerts with PocketBase as a library: authenticated users may do everything.
package main

import (
	"log"

	"github.com/pocketbase/pocketbase"
	"github.com/pocketbase/pocketbase/core"
	"github.com/pocketbase/pocketbase/tools/types"
)

func main() {
	app := pocketbase.New()
	app.OnServe().BindFunc(func(event *core.ServeEvent) error {
		if err := createCollections(event.App); err != nil {
			return err
		}
		return event.Next()
	})
	if err := app.Start(); err != nil {
		log.Fatal(err)
	}
}

func createCollections(app core.App) error {
	if _, err := app.FindCollectionByNameOrId("venues"); err == nil {
		return nil
	}
	venues := newCollection("venues",
		&core.TextField{Name: "name", Required: true, Max: 80},
		&core.NumberField{Name: "capacity", OnlyInt: true, Min: types.Pointer(1.0), Max: types.Pointer(100000.0)},
	)
	venues.AddIndex("venues_name", true, "name", "")
	if err := app.Save(venues); err != nil {
		return err
	}
	concerts := newCollection("concerts",
		&core.TextField{Name: "title", Required: true, Max: 120},
		&core.NumberField{Name: "price", Min: types.Pointer(0.0)},
		&core.DateField{Name: "date", Required: true},
		&core.RelationField{Name: "venue", CollectionId: venues.Id, Required: true, MaxSelect: 1},
	)
	return app.Save(concerts)
}

func newCollection(name string, fields ...core.Field) *core.Collection {
	collection := core.NewBaseCollection(name)
	authenticated := types.Pointer("@request.auth.id != ''")
	collection.ListRule, collection.ViewRule = authenticated, authenticated
	collection.CreateRule, collection.UpdateRule, collection.DeleteRule = authenticated, authenticated, authenticated
	collection.Fields.Add(fields...)
	collection.Fields.Add(&core.AutodateField{Name: "created", OnCreate: true})
	collection.Fields.Add(&core.AutodateField{Name: "updated", OnCreate: true, OnUpdate: true})
	return collection
}
