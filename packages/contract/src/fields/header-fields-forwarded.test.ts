import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readForwarded } from './header-fields.ts'

const rows: [string, Record<string, string>, boolean, string | undefined][] = [
  ['nothing said is not secure', {}, false, undefined],
  ['Forwarded', { forwarded: 'for=192.0.2.60;proto=https;by=203.0.113.43' }, true, '192.0.2.60'],
  ['names in any case', { forwarded: 'For="[2001:DB8:cafe::17]:4711"; Proto=HTTPS' }, true, '2001:db8:cafe::17'],
  ['only the last hop counts', { forwarded: 'for=1.1.1.1;proto=https, for=2.2.2.2;proto=http' }, false, '2.2.2.2'],
  ['a hidden client', { forwarded: 'for=_hidden;proto=https' }, true, undefined],
  ['an unknown client', { forwarded: 'for=unknown' }, false, undefined],
  ['a malformed value says nothing', { forwarded: 'proto=https;for=' }, false, undefined],
  ['an open quote says nothing', { forwarded: 'proto="https' }, false, undefined],
  ['quotes may hold separators', { forwarded: 'by="a,b;c";proto="https"' }, true, undefined],
  ['X-Forwarded', { 'x-forwarded-proto': 'https', 'x-forwarded-for': '1.2.3.4' }, true, '1.2.3.4'],
  ['X-Forwarded, last', { 'x-forwarded-proto': 'https, http', 'x-forwarded-for': 'x, ::1' }, false, '::1'],
  ['X-Forwarded-For alone', { 'x-forwarded-for': '1.2.3.4:5678' }, false, '1.2.3.4'],
  ['a made-up address', { 'x-forwarded-for': '1.2.3.400', 'x-forwarded-proto': 'https' }, true, undefined],
  ['both must agree', { forwarded: 'proto=https;for=9.9.9.9', 'x-forwarded-proto': 'http' }, false, undefined],
  [
    'both agree',
    { forwarded: 'proto=https;for=9.9.9.9', 'x-forwarded-proto': 'https', 'x-forwarded-for': '9.9.9.9' },
    true,
    '9.9.9.9',
  ],
]
for (const [name, headers, secure, address] of rows) {
  test(name, () => assert.deepEqual(readForwarded(headers), { secure, address }))
}
