/** CON-8: one tag for a record, however it is read; and what answers depend on. */
import type { Case, Seen } from '../../case/case.ts'
import { altogether, done, finding, onlyWhere } from '../../case/expect.ts'
import { given, record, when } from '../../case/steps.ts'
import { fieldOf } from '../../client/exchange.ts'
import { sameTag } from './validators.ts'

const restricted = onlyWhere('fields restricts what is returned', (seen) => {
  const [part, whole] = [seen.of('part').answer, seen.of('read').answer]
  if (part?.status !== 200) return `fields is answered ${part?.status}`
  return part.body === whole?.body ? 'fields is taken no notice of' : undefined
})

/** What clients may ask for in different ways, and how. */
const negotiated = [
  ['Accept', 'xml', 'html'],
  ['Accept-Encoding', 'zipped'],
] as const

/** Fields of the request on which the answer to the step `read` is seen to depend. */
function deciding(seen: Seen): string[] {
  const kindOf = (step: string) => {
    const { answer } = seen.of(step)
    return JSON.stringify([
      answer?.status,
      ...['Content-Type', 'Content-Encoding'].map((name) => answer && fieldOf(answer, name)),
    ])
  }
  const usual = kindOf('read')
  return negotiated.filter(([, ...steps]) => steps.some((step) => kindOf(step) !== usual)).map(([name]) => name)
}

const mend =
  'Make the tag from the revision of the record, not from the bytes of the answer: any read gives the tag that If-Match takes.'

export const tags: readonly Case[] = [
  {
    id: 'CON-8/fields',
    title: 'A record has the same ETag with and without fields',
    kind: 'changing',
    needs: ['create', 'read'],
    after: ['CON-2/etag-stays'],
    steps: [record(), given('read', 'GET', '{one}'), when('part', 'GET', '{one}?fields={id}')],
    ...{ expect: [restricted, sameTag('part', 'read')], mend },
  },
  {
    id: 'CON-8/tag-of-fields',
    title: 'An entity tag from a read with fields fits If-Match',
    kind: 'changing',
    needs: ['create', 'read', 'update', 'change'],
    after: ['CON-3/fits-patch', 'CON-3/other-patch'],
    steps: [
      record(),
      given('read', 'GET', '{one}'),
      when('part', 'GET', '{one}?fields={id}'),
      when('change', 'PATCH', '{one}', { body: { from: 'change' }, headers: { 'If-Match': '{part.etag}' } }),
    ],
    ...{ expect: [restricted, done('change')], mend },
  },
  {
    id: 'CON-8/tag-of-head',
    title: 'An entity tag from HEAD fits If-Match',
    kind: 'changing',
    needs: ['create', 'read', 'update', 'change'],
    after: ['CON-3/fits-patch', 'CON-3/other-patch'],
    steps: [
      record(),
      given('head', 'HEAD', '{one}'),
      when('change', 'PATCH', '{one}', { body: { from: 'change' }, headers: { 'If-Match': '{head.etag}' } }),
    ],
    ...{ expect: [done('change')], mend },
  },
  {
    id: 'CON-8/vary',
    title: 'Vary names the fields of the request that the answer depends on',
    kind: 'changing',
    needs: ['create', 'read'],
    steps: [
      record(),
      given('read', 'GET', '{one}'),
      when('xml', 'GET', '{one}', { headers: { Accept: 'application/xml' } }),
      when('html', 'GET', '{one}', { headers: { Accept: 'text/html' } }),
      when('zipped', 'GET', '{one}', { headers: { 'Accept-Encoding': 'gzip' } }),
    ],
    expect: [
      onlyWhere('answers depend on Accept or Accept-Encoding', (seen) =>
        deciding(seen).length > 0 ? undefined : 'the answer is the same whatever Accept and Accept-Encoding say',
      ),
      altogether('Vary names them', (seen) => {
        const read = seen.of('read')
        const vary = (read.answer && fieldOf(read.answer, 'Vary')) ?? ''
        const named = vary
          .toLowerCase()
          .split(',')
          .map((each) => each.trim())
        const missing = deciding(seen).filter((name) => !named.includes('*') && !named.includes(name.toLowerCase()))
        return missing.length === 0
          ? undefined
          : finding(
              read,
              { field: 'Vary' },
              `Vary is ${vary || 'absent'}, and the answer depends on ${missing.join(' and ')}`,
            )
      }),
    ],
    mend: 'Name in Vary whatever field of the request decides the answer: otherwise a cache gives JSON to who asked for a page.',
  },
]
