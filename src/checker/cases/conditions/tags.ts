/** CON-8: one tag for a record, however it is read; and what answers depend on. */
import type { Seen } from '../../case/case.ts'
import { define } from '../../case/define.ts'
import { altogether, applicableWhere, done, finding } from '../../case/expect.ts'
import { change, one, read as readStep } from '../../case/names.ts'
import { idMember, type Reference, references } from '../../case/references.ts'
import { body, create, setUp } from '../../case/steps.ts'
import { fieldOf } from '../../client/exchange.ts'
import { sameTag } from './validators.ts'

const [partStep, head, xml, html, zipped] = references('part', 'head', 'xml', 'html', 'zipped')

const restricted = applicableWhere('fields restricts what is returned', (seen) => {
  const [part, whole] = [seen.of(partStep).answer, seen.of(readStep).answer]
  if (part?.status !== 200) return `fields is answered ${part?.status}`
  return part.body === whole?.body ? 'fields is taken no notice of' : undefined
})

/** What clients may ask for in different ways, and how. */
const negotiated = [
  ['Accept', xml, html],
  ['Accept-Encoding', zipped],
] as const

/** Fields of the request on which the answer to the step `read` is seen to depend. */
function deciding(seen: Seen): string[] {
  const kindOf = (step: Reference) => {
    const { answer } = seen.of(step)
    return JSON.stringify([
      answer?.status,
      ...['Content-Type', 'Content-Encoding'].map((name) => answer && fieldOf(answer, name)),
    ])
  }
  const usual = kindOf(readStep)
  return negotiated.filter(([, ...steps]) => steps.some((step) => kindOf(step) !== usual)).map(([name]) => name)
}

const mend =
  'Make the tag from the revision of the record, not from the bytes of the answer: any read gives the tag that If-Match takes.'

export const tags = define({
  'CON-8/fields': {
    title: 'A record has the same ETag with and without fields',
    after: ['CON-2/etag-stays'],
    steps: [create(one), setUp(readStep.get(one)), partStep.get(`${one}?fields=${idMember}`)],
    expect: [restricted, sameTag(partStep, readStep)],
    remedy: mend,
  },
  'CON-8/tag-of-fields': {
    title: 'An entity tag from a read with fields fits If-Match',
    after: ['CON-3/fits-patch', 'CON-3/other-patch'],
    steps: [
      create(one),
      setUp(readStep.get(one)),
      partStep.get(`${one}?fields=${idMember}`),
      change.patch(one, body.change, { headers: { 'If-Match': partStep.etag } }),
    ],
    expect: [restricted, done(change)],
    remedy: mend,
  },
  'CON-8/tag-of-head': {
    title: 'An entity tag from HEAD fits If-Match',
    after: ['CON-3/fits-patch', 'CON-3/other-patch'],
    steps: [create(one), setUp(head.head(one)), change.patch(one, body.change, { headers: { 'If-Match': head.etag } })],
    expect: [done(change)],
    remedy: mend,
  },
  'CON-8/vary': {
    title: 'Vary names the fields of the request that the answer depends on',
    steps: [
      create(one),
      setUp(readStep.get(one)),
      xml.get(one, { headers: { Accept: 'application/xml' } }),
      html.get(one, { headers: { Accept: 'text/html' } }),
      zipped.get(one, { headers: { 'Accept-Encoding': 'gzip' } }),
    ],
    expect: [
      applicableWhere('answers depend on Accept or Accept-Encoding', (seen) =>
        deciding(seen).length > 0 ? undefined : 'the answer is the same whatever Accept and Accept-Encoding say',
      ),
      altogether('Vary names them', (seen) => {
        const read = seen.of(readStep)
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
    remedy:
      'Name in Vary whatever field of the request decides the answer: otherwise a cache gives JSON to who asked for a page.',
  },
})
