/**
 * CON-1 to CON-5 over real connections: the table of conditions. RFC 9110 section 13.2.2, written as an oracle, has the
 * expected results.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Answer,
  type DateForm,
  dateForms,
  expected,
  type State,
  type TagForm,
  tagForms,
} from '../../packages/server/src/http/preconditions.fixture.ts'
import { samples } from '../declarations.ts'
import { type Ask, connected, each } from './connected.ts'
import { transports } from './transports.ts'

/** A record, and the tag that the client read before whatever happened to it. */
interface Target {
  readonly path: string
  readonly read: string
  readonly state: State | undefined
}

const json = { 'content-type': 'application/json' }
const methods: Readonly<Record<string, { readonly body?: string; readonly done: number }>> = {
  GET: { done: 200 },
  HEAD: { done: 200 },
  PUT: { body: '{"title":"Put"}', done: 200 },
  PATCH: { body: '{"title":"Patched"}', done: 200 },
  DELETE: { done: 204 },
}
const fates = ['unchanged', 'changed', 'gone'] as const

async function prepare(ask: Ask, fate: (typeof fates)[number]): Promise<Target> {
  const made = await ask('POST', '/v1/samples', json, '{"title":"Tea"}')
  assert.equal(made.status, 201, made.body)
  const path = String(made.headers.location)
  const read = opaque(made.headers.etag)
  if (fate === 'gone') {
    assert.equal((await ask('DELETE', path)).status, 204)
    return { path, read, state: undefined }
  }
  const last = fate === 'changed' ? await ask('PATCH', path, json, '{"title":"Oil"}') : made
  const date = Date.parse(String(last.headers['last-modified'])) / 1000
  return { path, read, state: { tag: opaque(last.headers.etag), date } }
}

function opaque(tag: string | undefined): string {
  const match = /^"([^"]+)"$/.exec(String(tag))
  assert.ok(match, `not a strong tag: ${tag}`)
  return match[1] as string
}

function statusOf(answer: Answer, method: string, { state }: Target): number {
  if (answer === 'MALFORMED_CONDITION') return 400
  // CON-6: the 404 of the record comes before its conditions.
  if (state === undefined) return 404
  if (answer === 'proceed') return (methods[method] as { done: number }).done
  return answer === 'not-modified' ? 304 : 412
}

for (const transport of transports) {
  for (const fate of fates) {
    test(`CON-3, CON-4: ${transport}: every condition on a record that is ${fate}`, async (context) => {
      const { ask } = await connected(context, samples, transport)
      const shared = await prepare(ask, fate)
      const rows = Object.keys(methods).flatMap((method) =>
        Object.keys(tagForms('')).flatMap((match) =>
          Object.keys(tagForms('')).flatMap((noneMatch) =>
            ['absent', 'before', 'same'].flatMap((modified) =>
              ['absent', 'before', 'same'].map((unmodified) => ({ method, match, noneMatch, modified, unmodified })),
            ),
          ),
        ),
      )
      const disagreements: string[] = []
      const counts = new Map<number, number>()
      await each(rows, async ({ method, match, noneMatch, modified, unmodified }) => {
        const changes = method !== 'GET' && method !== 'HEAD'
        const target = changes && fate !== 'gone' ? await prepare(ask, fate) : shared
        const tags = tagForms(target.read)
        const dates = dateForms(target.state?.date ?? 1_000_000_000)
        const [ifMatch, ifNoneMatch] = [tags[match] as TagForm, tags[noneMatch] as TagForm]
        const [ifModifiedSince, ifUnmodifiedSince] = [dates[modified] as DateForm, dates[unmodified] as DateForm]
        const fields = {
          'if-match': ifMatch.text,
          'if-none-match': ifNoneMatch.text,
          'if-modified-since': ifModifiedSince.text,
          'if-unmodified-since': ifUnmodifiedSince.text,
        }
        const { body } = methods[method] as { body?: string }
        const sent = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined)
        const answer = await ask(
          method,
          target.path,
          { ...(body === undefined ? {} : json), ...Object.fromEntries(sent) },
          body,
        )
        const row = { method, ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince, state: target.state }
        const should = statusOf(expected(row), method, target)
        counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1)
        if (answer.status !== should) {
          disagreements.push(`${method} ${JSON.stringify(Object.fromEntries(sent))}: ${answer.status}, not ${should}`)
        }
        if (answer.status === 304) assert.equal(answer.body, '')
      })
      assert.deepEqual(disagreements.slice(0, 5), [], `${disagreements.length} of ${rows.length} rows disagree`)
      assert.deepEqual([...counts.keys()].sort(), fate === 'gone' ? [400, 404] : [200, 204, 304, 400, 412])
    })
  }
}
