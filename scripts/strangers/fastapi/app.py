"""Teams and heroes with FastAPI, SQLModel and SQLite."""

import os
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Query
from sqlalchemy import event
from sqlalchemy.exc import IntegrityError
from sqlmodel import Field, Session, SQLModel, create_engine, select


class TeamBase(SQLModel):
    name: str = Field(index=True, unique=True, min_length=1, max_length=80)
    headquarters: str


class Team(TeamBase, table=True):
    id: int | None = Field(default=None, primary_key=True)


class TeamPublic(TeamBase):
    id: int


class TeamUpdate(SQLModel):
    name: str | None = Field(default=None, min_length=1, max_length=80)
    headquarters: str | None = None


class HeroBase(SQLModel):
    name: str = Field(index=True, min_length=1, max_length=80)
    age: int | None = Field(default=None, ge=0, le=200)
    team_id: int | None = Field(default=None, foreign_key="team.id")


class Hero(HeroBase, table=True):
    id: int | None = Field(default=None, primary_key=True)


class HeroPublic(HeroBase):
    id: int


class HeroUpdate(SQLModel):
    name: str | None = Field(default=None, min_length=1, max_length=80)
    age: int | None = Field(default=None, ge=0, le=200)
    team_id: int | None = None


engine = create_engine(
    f"sqlite:///{os.environ['DATA']}/heroes.db", connect_args={"check_same_thread": False}
)


@event.listens_for(engine, "connect")
def enforce_foreign_keys(connection, _):
    connection.execute("PRAGMA foreign_keys = ON")


def seed():
    with Session(engine) as session:
        preventers = Team(name="Preventers", headquarters="Sharp Tower")
        force = Team(name="Z-Force", headquarters="Sister Margaret's Bar")
        session.add_all([preventers, force])
        session.commit()
        for number in range(1, 24):
            team = force if number % 2 else preventers
            session.add(Hero(name=f"Hero {number}", age=20 + number, team_id=team.id))
        session.commit()


@asynccontextmanager
async def lifespan(_: FastAPI):
    SQLModel.metadata.create_all(engine)
    seed()
    yield


def get_session():
    with Session(engine) as session:
        yield session


SessionDep = Annotated[Session, Depends(get_session)]
app = FastAPI(title="Heroes", lifespan=lifespan)


def save(session: Session, record: SQLModel):
    try:
        session.add(record)
        session.commit()
    except IntegrityError as error:
        raise HTTPException(status_code=409, detail=str(error.orig)) from error
    session.refresh(record)
    return record


def find(session: Session, model: type[SQLModel], identifier: int):
    record = session.get(model, identifier)
    if record is None:
        raise HTTPException(status_code=404, detail=f"{model.__name__} not found")
    return record


@app.post("/teams/", response_model=TeamPublic, status_code=201)
def create_team(team: TeamBase, session: SessionDep):
    return save(session, Team.model_validate(team))


@app.get("/teams/", response_model=list[TeamPublic])
def read_teams(session: SessionDep, offset: int = 0, limit: Annotated[int, Query(le=100)] = 100):
    return session.exec(select(Team).offset(offset).limit(limit)).all()


@app.get("/teams/{team_id}", response_model=TeamPublic)
def read_team(team_id: int, session: SessionDep):
    return find(session, Team, team_id)


@app.patch("/teams/{team_id}", response_model=TeamPublic)
def update_team(team_id: int, team: TeamUpdate, session: SessionDep):
    record = find(session, Team, team_id)
    record.sqlmodel_update(team.model_dump(exclude_unset=True))
    return save(session, record)


@app.delete("/teams/{team_id}")
def delete_team(team_id: int, session: SessionDep):
    session.delete(find(session, Team, team_id))
    try:
        session.commit()
    except IntegrityError as error:
        raise HTTPException(status_code=409, detail="The team has heroes") from error
    return {"ok": True}


@app.post("/heroes/", response_model=HeroPublic, status_code=201)
def create_hero(hero: HeroBase, session: SessionDep):
    return save(session, Hero.model_validate(hero))


@app.get("/heroes/", response_model=list[HeroPublic])
def read_heroes(
    session: SessionDep,
    offset: int = 0,
    limit: Annotated[int, Query(le=100)] = 100,
    team_id: int | None = None,
):
    query = select(Hero)
    if team_id is not None:
        query = query.where(Hero.team_id == team_id)
    return session.exec(query.offset(offset).limit(limit)).all()


@app.get("/heroes/{hero_id}", response_model=HeroPublic)
def read_hero(hero_id: int, session: SessionDep):
    return find(session, Hero, hero_id)


@app.patch("/heroes/{hero_id}", response_model=HeroPublic)
def update_hero(hero_id: int, hero: HeroUpdate, session: SessionDep):
    record = find(session, Hero, hero_id)
    record.sqlmodel_update(hero.model_dump(exclude_unset=True))
    return save(session, record)


@app.delete("/heroes/{hero_id}")
def delete_hero(hero_id: int, session: SessionDep):
    session.delete(find(session, Hero, hero_id))
    session.commit()
    return {"ok": True}
