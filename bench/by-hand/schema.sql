-- The tables of the atlas, with the indexes that its filters and sorts need.
create table countries (
  id text primary key, name text not null, code text not null, deleted_at text
) strict;

create table cities (
  id text primary key, name text not null, country_id text not null,
  population integer not null, feature text not null, capital integer not null, admin_code text,
  latitude real not null, longitude real not null, created_at text not null, updated_at text not null,
  deleted_at text, revision integer not null default 1
) strict;

create virtual table cities_words using fts5 (
  name, content = 'cities', tokenize = 'unicode61 remove_diacritics 2'
);

create table keys (hash text primary key, subject text not null, role text not null) strict, without rowid;
