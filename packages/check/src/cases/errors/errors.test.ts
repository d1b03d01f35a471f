/** What tells of a server's inside is found, whatever it is made with; what an honest error says is not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { internalDetailIn } from './errors.ts'

const telling = [
  'TypeError: x is not a function\n    at list (/srv/shop/lists.js:12:8)\n    at node:internal/process:95:5',
  '{"stack":"Error: odd\\n    at Object.<anonymous> (app.ts:3:7)"}',
  'Traceback (most recent call last):\n  File "/app/views.py", line 12, in get',
  'java.lang.NullPointerException\n\tat com.example.Shop.list(Shop.java:42)',
  'goroutine 1 [running]:\nmain.main()',
  'System.FormatException at Shop.List() in C:\\src\\Shop.cs:line 12',
  "app/models/item.rb:12:in `find'",
  '<b>Fatal error</b>: Uncaught Error in /var/www/html/index.php on line 3',
  'UPDATE items SET price = 5',
  '{"detail":"select id from items where id = 1"}',
  '{"message":"SQLITE_ERROR: no such column: odd"}',
  'SQLSTATE[22P02]: invalid input syntax for type uuid',
  'pq: duplicate key value violates unique constraint "items_pkey"',
  'ER_DUP_ENTRY',
  '{"message":"E11000 duplicate key error collection: shop.items index: sku_1"}',
  "Violation of UNIQUE KEY constraint 'items_sku'. Cannot insert duplicate key in object 'dbo.items'.",
  '{"message":"UNIQUE constraint failed: items.sku"}',
  'PrismaClientKnownRequestError',
  'cannot open /home/shop/data/items.db',
  'Error in node_modules/express/lib/router',
  '{"message":"Failed to convert from type [java.lang.String] to type [java.lang.Long] for value [odd]"}',
  '{"message":"Cannot deserialize value of type `com.example.Employee` from Array value"}',
  '{"message":"Error executing PERSIST\\nINSERT INTO `station` (`name`) VALUES (?)"}',
  'Unique index or primary key violation: "PUBLIC.IDX_NAME"',
  '{"message":"Unexpected end-of-input\\n at [Source: REDACTED; line: 1, column: 7]"}',
]

for (const text of telling) {
  test(`ERR-4: ${text.slice(0, 60).replaceAll('\n', ' ')} tells`, () => assert.ok(internalDetailIn(text)))
}

const honest = [
  '{"type":"about:blank","title":"Not found","status":404,"instance":"/v3/items/odd%00","code":"NOT_FOUND"}',
  '{"detail":"Choose a value from the list; select one of red, green."}',
  '{"detail":"at most 100 characters, at least 1","instance":"/api/home/items"}',
  '{"detail":"Update the record and set its name."}',
  '{"detail":"A record with this sku exists: the value must be unique, and a duplicate is refused."}',
  '{"detail":"Select one from the list, or delete from it what you do not need."}',
  'no more\nat most 5 (or 10:20)',
  '{"instance":"/v1/items/odd\' OR \'1\'=\'1"}',
  'Unexpected token o in JSON at position 1',
  '{"instance":"https://shop.example.com/Things","contact":"shop@com.example.Shop.org","detail":"See net.example."}',
  '<html><head><title>400 Bad Request</title></head><body><center>nginx</center></body></html>',
]

for (const text of honest) {
  test(`ERR-4: ${text.slice(0, 60)} does not`, () => assert.equal(internalDetailIn(text), undefined))
}
