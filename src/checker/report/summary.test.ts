import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Asked } from '../client/exchange.ts'
import { commandOf } from './summary.ts'

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
