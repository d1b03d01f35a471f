/** CON: caching and conditions. */
import type { CaseSection } from '../case.ts'
import { altogether, field, finding, noBody, status } from '../expect.ts'
import { given, record, together, when } from '../steps.ts'

const strong = /^"[\x21\x23-\x7e\x80-\xff]*"$/

export const conditions: CaseSection = {
  cases: [
    {
      id: 'CON-2/etag',
      title: 'A record carries a strong ETag',
      kind: 'changing',
      needs: ['create', 'read'],
      steps: [record(), when('read', 'GET', '{one}')],
      expect: [
        status('read', 200),
        field('read', 'ETag', 'is a strong entity tag', (value) =>
          strong.test(value) ? undefined : `${value} is no strong entity tag: "…" without W/ before it`,
        ),
      ],
      mend: 'Send the revision of the record in ETag, in double quotes: a number that grows with every change will do.',
    },
    {
      id: 'CON-3/stale-delete',
      title: 'DELETE with an entity tag that is out of date is refused, and the record stays',
      kind: 'changing',
      needs: ['create', 'read', 'update', 'change', 'delete'],
      after: ['CON-2/etag'],
      steps: [
        record(),
        given('seen', 'GET', '{one}'),
        given('changed', 'PATCH', '{one}', { body: { from: 'change' }, headers: { 'If-Match': '{seen.etag}' } }),
        when('stale', 'DELETE', '{one}', { headers: { 'If-Match': '{seen.etag}' } }),
        when('after', 'GET', '{one}'),
      ],
      expect: [status('stale', 412), status('after', 200)],
      mend: 'Compare If-Match with the entity tag that the record has now, in the transaction that deletes it, and answer 412 where they differ.',
    },
    {
      id: 'CON-4/not-modified',
      title: 'GET with the entity tag that the record has is answered 304, without a body',
      kind: 'changing',
      needs: ['create', 'read'],
      after: ['CON-2/etag'],
      steps: [
        record(),
        given('read', 'GET', '{one}'),
        when('again', 'GET', '{one}', { headers: { 'If-None-Match': '{read.etag}' } }),
      ],
      expect: [
        status('again', 304),
        noBody('again'),
        field('again', 'ETag', 'is the same', (value, seen) => {
          const before = seen.fill('{read.etag}')
          return value === before ? undefined : `${value} in place of ${before}`
        }),
      ],
      mend: 'Compare If-None-Match with the ETag that a 200 would carry, and answer 304 with the same header fields and no body.',
    },
    {
      id: 'CON-5/one-wins',
      title: 'Of eight changes at once with one entity tag exactly one is made',
      kind: 'changing',
      needs: ['create', 'read', 'update', 'change'],
      after: ['CON-2/etag'],
      steps: [
        record(),
        given('seen', 'GET', '{one}'),
        together(
          ...Array.from({ length: 8 }, () =>
            when('changes', 'PATCH', '{one}', { body: { from: 'change' }, headers: { 'If-Match': '{seen.etag}' } }),
          ),
        ),
      ],
      expect: [
        altogether('one answers 2xx, all others 412', (seen) => {
          const all = seen.all('changes')
          const won = all.filter(({ answer }) => answer !== undefined && answer.status < 300)
          const odd = all.find(({ answer }) => answer === undefined || (answer.status >= 300 && answer.status !== 412))
          if (odd !== undefined) return finding(odd, 'status', `${odd.answer?.status ?? odd.failure} in place of 412`)
          return won.length === 1
            ? undefined
            : finding(won[1] ?? all[0], 'status', `${won.length} of ${all.length} were made`)
        }),
      ],
      mend: 'Decide the condition in the transaction that writes, on a row that is locked or by "update … where revision = …": of two writers one has to find that the other was first.',
    },
  ],
  unseen: {},
}
