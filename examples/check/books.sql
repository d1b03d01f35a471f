-- Two tables for a server that makes its interface from them.
create table authors (id integer primary key, name text not null, country text);
create table books (
  id integer primary key,
  title text not null,
  author_id integer not null references authors (id),
  year integer
);
