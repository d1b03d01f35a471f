import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Asked, Exchange } from '../client/exchange.ts'
import { commandOf, replayLines } from './replay.ts'

const base = 'http://a.example/v1/cities'

/** An exchange, with the status and the JSON value of its response. */
function exchange(
  asked: Partial<Asked>,
  status = 200,
  body?: unknown,
  fields: readonly (readonly [string, string])[] = [],
): Exchange {
  return {
    step: 'one',
    asked: { method: 'GET', url: base, fields: [], ...asked },
    answer: { status, version: '1.1', fields, body: body === undefined ? '' : JSON.stringify(body) },
    milliseconds: 1,
  }
}

const record = (id: unknown) => ({ method: 'DELETE', url: `${base}/${id}` })
const make = { method: 'POST', body: '{"name":"1"}' }
const curl = '--path-as-is -g'
const replay = (...exchanges: readonly Exchange[]) => replayLines({ exchanges, findings: [] })

test('an identifier in the body of a response is a variable in later requests', () => {
  assert.deepEqual(replay(exchange(make, 201, { data: { id: 1 } }), exchange(record(1)), exchange(record(12))), [
    `ID=$(curl -s ${curl} --data-raw '{"name":"1"}' ${base} | jq -r '.data.id')`,
    `curl -i ${curl} -X DELETE "${base}/$ID"`,
    `curl -i ${curl} -X DELETE ${base}/12`,
  ])
})

test('references to a new record are variables, and nothing else with the same number', () => {
  const child = { method: 'POST', url: 'http://a.example/v1/streets', body: '{"city_id":1,"length":1,"id":"10"}' }
  const [, second] = replay(exchange(make, 201, { id: 1 }), exchange(child, 201, { id: 7 }), exchange(record(1)))
  assert.equal(
    second,
    `curl -i ${curl} --data-raw "{\\"city_id\\":$ID,\\"length\\":1,\\"id\\":\\"10\\"}" http://a.example/v1/streets`,
  )
})

test('a second record has a variable of its own; an identifier may be in Location alone', () => {
  const uuids = ['0b4f6a5e-aaaa-7000-8000-000000000001', '0b4f6a5e-aaaa-7000-8000-000000000002']
  const ids = { method: 'POST', url: `${base}/bulk-delete`, body: JSON.stringify({ ids: uuids }) }
  const [first, second, third] = replay(
    exchange(make, 201, { id: uuids[0] }),
    exchange(make, 201, undefined, [['Location', `${base}/${uuids[1]}`]]),
    exchange(ids),
    exchange(record(uuids[1])),
  )
  assert.match(first as string, /^ID=/)
  assert.equal(
    second,
    `curl -s -D headers.txt -o /dev/null ${curl} --data-raw '{"name":"1"}' ${base}; ` +
      "ID2=$(sed -n 's|^[Ll][Oo][Cc][Aa][Tt][Ii][Oo][Nn]: *.*/||p' headers.txt | tr -d '\\r')",
  )
  assert.match(third as string, /\$ID\\",\\"\$ID2/)
})

test('an entity tag is a variable, and the guilty request is marked', () => {
  const read = exchange({ url: `${base}/1` }, 200, { id: 1 }, [['ETag', '"1"']])
  const stale = exchange({ ...record(1), fields: [['If-Match', '"1"']] }, 200)
  const exchanges = [exchange(make, 201, { id: 1 }), read, stale]
  const findings = [{ exchange: stale, part: 'status', message: '200 in\nplace of 412' }] as const
  assert.deepEqual(replayLines({ exchanges, findings }).slice(1), [
    `curl -s -D headers.txt -o /dev/null ${curl} "${base}/$ID"; ` +
      "ETAG=$(sed -n 's|^[Ee][Tt][Aa][Gg]: *||p' headers.txt | tr -d '\\r')",
    '# ✖ the next response: 200 in place of 412',
    `curl -i ${curl} -X DELETE -H "If-Match: $ETAG" "${base}/$ID"`,
  ])
})

const asked: Asked = { method: 'GET', url: 'https://a.example/v1/cities', fields: [] }

// biome-ignore format: a table reads best
const cases: [name: string, asked: Partial<Asked>, command: string][] = [
  ['a read', {}, 'curl -i --path-as-is -g https://a.example/v1/cities'],
  ['HEAD', { method: 'HEAD' }, 'curl -i --path-as-is -g -I https://a.example/v1/cities'],
  ['a body', { method: 'POST', body: `{"a":"it's"}` }, `curl -i --path-as-is -g --data-raw '{"a":"it'\\''s"}' https://a.example/v1/cities`],
  ['another method', { method: 'PATCH', body: '{}' }, "curl -i --path-as-is -g -X PATCH --data-raw '{}' https://a.example/v1/cities"],
  ['a credential is a variable, and nothing else of it', { fields: [['Authorization', 'Bearer $KEY`ls`$HOME']] }, 'curl -i --path-as-is -g -H "Authorization: Bearer $KEY\\`ls\\`\\$HOME" https://a.example/v1/cities'],
  ['an empty field', { fields: [['If-Match', '']] }, "curl -i --path-as-is -g -H 'If-Match;' https://a.example/v1/cities"],
  ['bytes', { url: 'http://a.example:81 *', bytes: 'OPTIONS * HTTP/1.1\r\nX: %\u0000\r\n\r\n' }, "printf 'OPTIONS * HTTP/1.1\\r\\nX: %%\\000\\r\\n\\r\\n' | nc a.example 81"],
  ['bytes by TLS', { url: 'https://[::1]/%zz', bytes: 'GET /%zz\r\n' }, "printf 'GET /%%zz\\r\\n' | openssl s_client -quiet -connect [::1]:443"],
]

for (const [name, more, command] of cases) {
  test(`a request as a command: ${name}`, () => {
    assert.equal(commandOf({ ...asked, ...more }), command)
  })
}
