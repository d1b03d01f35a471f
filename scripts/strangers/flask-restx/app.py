"""Projects and tickets with Flask-RESTX (Swagger 2.0), SQLAlchemy and SQLite."""

import os
from functools import wraps

from flask import Flask, request
from flask_restx import Api, Resource, fields, reqparse
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import event
from sqlalchemy.exc import IntegrityError
from waitress import serve

app = Flask(__name__)
app.config["SQLALCHEMY_DATABASE_URI"] = f"sqlite:///{os.environ['DATA']}/tickets.db"
app.config["RESTX_VALIDATE"] = True
app.config["RESTX_MASK_SWAGGER"] = False
db = SQLAlchemy(app)
api = Api(
    app,
    version="1.0",
    title="Tickets",
    prefix="/api/v1",
    doc="/docs",
    authorizations={"apikey": {"type": "apiKey", "in": "header", "name": "X-API-Key"}},
    security="apikey",
)
# The document lies beside the interface, as behind most gateways.
app.add_url_rule("/api/v1/swagger.json", "swagger", lambda: api.__schema__)


class Project(db.Model):
    id = db.Column(db.Integer, primary_key=True)
    key = db.Column(db.String(10), unique=True, nullable=False)
    name = db.Column(db.String(100), nullable=False)


class Ticket(db.Model):
    id = db.Column(db.Integer, primary_key=True)
    title = db.Column(db.String(200), nullable=False)
    status = db.Column(db.String(10), nullable=False, default="open")
    points = db.Column(db.Integer)
    project_id = db.Column(db.Integer, db.ForeignKey("project.id"), nullable=False)


project_model = api.model(
    "Project",
    {
        "id": fields.Integer(readonly=True),
        "key": fields.String(required=True, pattern="^[A-Z]{2,10}$", example="SHOP"),
        "name": fields.String(required=True, min_length=1, max_length=100, example="Web shop"),
    },
)
ticket_model = api.model(
    "Ticket",
    {
        "id": fields.Integer(readonly=True),
        "title": fields.String(required=True, min_length=1, max_length=200),
        "status": fields.String(enum=["open", "doing", "done"], default="open"),
        "points": fields.Integer(min=0, max=21),
        "project_id": fields.Integer(required=True),
    },
)
paging = reqparse.RequestParser()
paging.add_argument("page", type=int, default=1, location="args")
paging.add_argument("per_page", type=int, default=25, choices=[10, 25, 50], location="args")


def authenticated(method):
    @wraps(method)
    def checked(*args, **kwargs):
        if request.headers.get("X-API-Key") != "ticket-desk":
            api.abort(401, "A valid X-API-Key is required")
        return method(*args, **kwargs)

    return checked


def save(record):
    db.session.add(record)
    try:
        db.session.commit()
    except IntegrityError:
        db.session.rollback()
        api.abort(409, "Another record has this value, or a reference leads nowhere")
    return record


def find(model, identifier):
    record = db.session.get(model, identifier)
    if record is None:
        api.abort(404, f"{model.__name__} {identifier} does not exist")
    return record


def resources(path, model, shape, writable):
    space = api.namespace(path, description=f"{model.__name__} records")

    @space.route("/")
    class RecordList(Resource):
        method_decorators = [authenticated]

        @space.doc(f"list_{path}")
        @space.expect(paging)
        @space.marshal_list_with(shape)
        def get(self):
            args = paging.parse_args()
            query = db.select(model).order_by(model.id)
            return db.session.scalars(query.limit(args["per_page"]).offset((args["page"] - 1) * args["per_page"])).all()

        @space.doc(f"create_{path}")
        @space.expect(shape)
        @space.marshal_with(shape, code=201)
        def post(self):
            return save(model(**{name: api.payload[name] for name in writable if name in api.payload})), 201

    @space.route("/<int:id>")
    @space.response(404, "Not found")
    class Record(Resource):
        method_decorators = [authenticated]

        @space.doc(f"get_{path}")
        @space.marshal_with(shape)
        def get(self, id):
            return find(model, id)

        @space.doc(f"replace_{path}")
        @space.expect(shape)
        @space.marshal_with(shape)
        def put(self, id):
            record = find(model, id)
            for name in writable:
                setattr(record, name, api.payload.get(name))
            return save(record)

        @space.doc(f"delete_{path}")
        @space.response(204, "Deleted")
        def delete(self, id):
            db.session.delete(find(model, id))
            try:
                db.session.commit()
            except IntegrityError:
                db.session.rollback()
                api.abort(409, "Other records refer to this one")
            return "", 204


resources("projects", Project, project_model, ["key", "name"])
resources("tickets", Ticket, ticket_model, ["title", "status", "points", "project_id"])

with app.app_context():

    @event.listens_for(db.engine, "connect")
    def enforce_foreign_keys(connection, _):
        connection.execute("PRAGMA foreign_keys = ON")

    db.create_all()
    for key in ("SHOP", "SITE"):
        project = Project(key=key, name=f"The {key.lower()}")
        db.session.add(project)
        db.session.flush()
        for number in range(1, 16):
            db.session.add(Ticket(title=f"{key} ticket {number}", points=number % 5, project_id=project.id))
    db.session.commit()

if __name__ == "__main__":
    serve(app, host="127.0.0.1", port=int(os.environ["PORT"]))
