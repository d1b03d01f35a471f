/** Schemas of PostgreSQL for the tests of `inspect`: an everyday one, and one of everything that is unusual. */

/** Films and their rental, with every type of everyday schemas. */
export const everyday = `
create type mpaa_rating as enum ('G', 'PG', 'PG-13', 'R');
create domain year as integer check (value >= 1901 and value <= 2155);
create table language (language_id uuid primary key default gen_random_uuid(), name character(20) not null,
  created_at timestamptz not null default now());
create table film (
  film_id serial primary key,
  title varchar(255) not null,
  description text,
  release_year year,
  language_id uuid not null references language on delete restrict,
  original_language_id uuid references language on delete set null,
  rental_duration smallint not null default 3 check (rental_duration > 0),
  rental_rate numeric(4,2) not null default 4.99,
  length integer,
  rating mpaa_rating default 'G',
  special_features text[] not null default '{}',
  settings jsonb not null default '{"a": [1]}',
  status varchar(10) not null default 'it''s' check (status in ('it''s', 'done', 'a AND b')),
  is_new boolean not null default true,
  shown_on date default current_date,
  shown_at timestamptz default '2020-01-02 03:04:05+00',
  last_update timestamp not null default now(),
  film_number bigint generated always as identity,
  fulltext tsvector,
  title_length integer generated always as (length(title)) stored,
  check (shown_on is null or length > 3),
  unique (title, release_year)
);
comment on table film is 'What is rented.';
comment on column film.title is 'As on the poster';
create index film_language on film (language_id, rental_rate desc); create index film_length on film using hash (length);
create index film_update on film (last_update); create index film_lower on film (lower(title));
create index film_features on film using gin (special_features); create index film_recent on film (title) where is_new;
create table review (id uuid primary key, film_id integer not null references film on delete cascade,
  parent_id uuid not null references review on delete cascade, stars smallint not null);
create index review_film on review (film_id, stars);
create table actor (id uuid primary key, email text not null unique check (char_length(email) <= 320));
create table film_actor (film_id integer references film on delete cascade, actor_id uuid references actor on delete
  cascade, primary key (film_id, actor_id));
create table rental (id uuid, due timestamptz not null, actor uuid references actor, primary key (id, due))
  partition by range (due);
create table rental_2026 partition of rental for values from ('2026-01-01') to ('2027-01-01');
`

/** What people and programs have in real databases and nobody expects. */
export const hostile = `
create table "jobs" ("id" text primary key, "and" text, "version" boolean not null, "token" boolean);
create table "Straße ""x'; drop" ("Größe" integer, "größe" integer, "日本" text, "日本2" text, "firstName" text,
  "2nd" text, "created_at" integer, "__proto__" text, "constructor" text, "id" integer, "limit" boolean,
  "${'long_'.repeat(12)}a" text, "${'long_'.repeat(12)}b" text);
create table "日本" (x text); create table "a" (x text); create table "b" (x text);
create table "__proto__" ("toString" text default E'a\\\\b');
create table "constructor" (x text default '\u001b[31m red \u2028 \u202e # : { } - ''');
comment on table "constructor" is E'one\\n*/ # two\\r\\nresources: {}\\n\\t- \u2028 : x\\n---\\n...';
comment on column "constructor".x is E'"\\n# */\\n\u0085 ''${'x'.repeat(2_000)}';
create table "order" (x integer check (x <> 3 and x in (1, 2)), "quote""d" text check ("quote""d" = any
  (array['a', '"', '::', ' AND ', ')', E'new\\nline', E'back\\\\slash', '', ' ', 'null', 'true', '- x', '# y'])));
create table orders (x text); create table "Orders" (x text); create table "${'orders_'.repeat(8)}" (x text);
create table "${'orders_'.repeat(8)}s" (x text);
create table only_id (id serial primary key); create table no_columns ();
create table refers (id uuid primary key, only_id integer references only_id);
create table circle_a (id uuid primary key);
create table circle_b (id uuid primary key, a uuid not null references circle_a);
alter table circle_a add b uuid not null references circle_b;
create table composite (a integer, b integer, primary key (a, b));
create table to_composite (a integer, b integer, foreign key (a, b) references composite);
create table to_unique (code text references natural_key (code) on delete set default);
create type empty as enum (); create type pair as (a integer, b text);
create domain short as varchar(5) not null default 'abc' check (value ~ '^a');
create table odd (m money, b bytea, i inet, iv interval, t time, tz timetz, p point, r int4range, e empty, c pair,
  n numeric, n2 numeric(5,-2), n3 numeric(3,5), n4 numeric(1000,2), na numeric(5,2)[], va varchar(3)[],
  vaa text[][], s short, sa short[], ea mpaa[] default array['x'::mpaa], x xml, ch "char", bi bigint default 99999999999999999,
  f float8 default 'NaN', g float8 default '-Infinity', d date default current_date, d2 date default 'infinity',
  j json default 'null', j2 jsonb default '"\u2028"', ts timestamptz default '0044-03-15 12:00:00+00 BC',
  k integer generated always as identity, cv varchar(3) default 'toolong', dec numeric(3,1) default 1.25::numeric(9,4),
  bit bit(3), v tsvector, ck integer check (ck between -5 and 5 and (ck = 1 or ck = 2)),
  ix integer check (ix > '-3'::integer));
create unique index partial on odd (k) where k > 3; create unique index expression on odd (lower(cv));
create unique index plain on odd (bi) include (k); create unique index list on odd (va);
create view seen as select 1 as one; create materialized view kept as select 1 as one;
create table parts (x integer, y text unique) ; create table child () inherits (parts);
create table cut (x integer) partition by list (x); create table cut_one partition of cut for values in (1);
create function noop() returns trigger language plpgsql as 'begin return new; end';
create trigger "tri'gger" before insert on orders for each row execute function noop();
alter table orders enable row level security;
create table resourced_mine (x text);
`

/** What `hostile` needs before it. */
export const beforeHostile = `
create type mpaa as enum ('x', 'y');
create table natural_key (code text primary key default 'a');
`
