-- A music store with 15,607 rows: references of a table to itself, a table without a key of its own, decimals,
-- timestamps, and values that are missing.
create table genre (genre_id int primary key, name varchar(120));
create table media_type (media_type_id int primary key, name varchar(120));
create table artist (artist_id int primary key, name varchar(120));
create table album (
  album_id int primary key, title varchar(160) not null, artist_id int not null references artist);
create table track (
  track_id int primary key, name varchar(200) not null, album_id int references album,
  media_type_id int not null references media_type, genre_id int references genre, composer varchar(220),
  milliseconds int not null, bytes int, unit_price numeric(10, 2) not null);
create table employee (
  employee_id int primary key, last_name varchar(20) not null, first_name varchar(20) not null,
  reports_to int references employee, birth_date timestamp, hire_date timestamptz);
create table customer (
  customer_id int primary key, first_name varchar(40) not null, last_name varchar(20) not null, company varchar(80),
  email varchar(60) not null unique, support_rep_id int references employee);
create table invoice (
  invoice_id int primary key, customer_id int not null references customer, invoice_date timestamp not null,
  billing_city varchar(40), total numeric(10, 2) not null);
create table invoice_line (
  invoice_line_id int primary key, invoice_id int not null references invoice, track_id int not null references track,
  unit_price numeric(10, 2) not null, quantity int not null);
create table playlist (playlist_id int primary key, name varchar(120));
create table playlist_track (
  playlist_id int references playlist, track_id int references track, primary key (playlist_id, track_id));

insert into genre select n, 'Genre ' || n from generate_series(1, 25) n;
insert into media_type select n, 'Type ' || n from generate_series(1, 5) n;
insert into artist select n, 'Artist ' || n || case when n % 50 = 0 then ' é "quoted"' else '' end
  from generate_series(1, 275) n;
insert into album select n, 'Album ' || n, 1 + n % 275 from generate_series(1, 347) n;
insert into track select n, 'Track ' || n, nullif(n % 348, 0), 1 + n % 5, nullif(n % 26, 0),
  case when n % 3 = 0 then 'Composer ' || n end, 1000 * n, nullif(n % 7, 0) * 1000, case when n % 9 = 0 then 1.99 else 0.99 end
  from generate_series(1, 3503) n;
-- The head has the highest number, so that every reference is to a later row.
insert into employee select n, 'Last ' || n, 'First ' || n, nullif(case when n < 6 then 6 + n % 2 else 8 end, n),
  timestamp '1960-01-31 08:30:00.5' + n * interval '1 year', timestamptz '2002-08-14 00:00:00+02' + n * interval '1 day'
  from generate_series(1, 8) n;
insert into customer select n, 'First ' || n, 'Last ' || n, case when n % 4 = 0 then 'Company ' || n end,
  'customer' || n || '@example.com', 3 + n % 3 from generate_series(1, 59) n;
insert into invoice select n, 1 + n % 59, timestamp '2009-01-01' + n * interval '1 day',
  case when n % 5 > 0 then 'City ' || n end, n + 0.98 from generate_series(1, 412) n;
insert into invoice_line select n, 1 + n % 412, 1 + (n * 13) % 3503, 0.99, 1 + n % 2 from generate_series(1, 2240) n;
insert into playlist select n, case when n <> 4 then 'Playlist ' || n end from generate_series(1, 18) n;
insert into playlist_track select 1 + n % 18, 1 + n / 18 from generate_series(0, 8714) n;
