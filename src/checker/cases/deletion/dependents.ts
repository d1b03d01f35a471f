/** DEL-4 and DEL-5: what becomes of records that refer to what is deleted. What a server does is found by trying. */
import type { Case, Seen } from '../../case/case.ts'
import { altogether, finding, itemsOf, member, sameBody, short, status } from '../../case/expect.ts'
import { answered, deleted, recordOf, shows, succeeded } from '../../case/expect-records.ts'
import { about, given, record, records, settled, together, when } from '../../case/steps.ts'

/** Of records that refer to others; `parent` is one of these others. */
const base = ['create', 'read', 'delete', 'unconditional', 'parent'] as const

const isDeleted = about('what others refer to is not deleted', succeeded('gone'))
const isRefused = about('what others refer to is deleted all the same', (seen) => !succeeded('gone')(seen))

/** What a record says of the parent that all of the case's records refer to. */
function referenceIn(item: unknown, { collection }: Pick<Seen, 'collection'>): unknown {
  const [name = ''] = Object.keys(collection.references)
  return (item as Readonly<Record<string, unknown>> | undefined)?.[name]
}

export const dependentCases: readonly Case[] = [
  {
    id: 'DEL-4/refused',
    title: 'Where a record that others refer to is not deleted, the answer is 409',
    kind: 'changing',
    needs: base,
    steps: [record(), when('gone', 'DELETE', '{parent}'), settled('gone'), isRefused],
    expect: [status('gone', 409)],
    mend: "Look for dependents before you delete, and answer 409 where there are some; do not let the database's own error through.",
  },
  {
    id: 'DEL-4/errors',
    title: 'A deletion that dependents forbid says in errors what is in the way',
    kind: 'changing',
    needs: base,
    after: ['DEL-4/refused'],
    steps: [record(), when('gone', 'DELETE', '{parent}'), settled('gone'), isRefused],
    expect: [
      member(
        'gone',
        ({ profile }) => profile.names.errors,
        'names what is in the way',
        (errors) => (Array.isArray(errors) && errors.length > 0 ? undefined : `errors is ${short(errors)}`),
      ),
    ],
    mend: 'List in errors which collection, and which of its records, are in the way.',
  },
  {
    id: 'DEL-4/unchanged',
    title: 'A deletion that dependents forbid leaves the record as it was',
    kind: 'changing',
    needs: base,
    after: ['DEL-4/refused'],
    steps: [
      record(),
      given('before', 'GET', '{parent}'),
      given('child before', 'GET', '{one}'),
      when('gone', 'DELETE', '{parent}'),
      settled('gone'),
      isRefused,
      when('after', 'GET', '{parent}'),
      when('child after', 'GET', '{one}'),
    ],
    expect: [
      status('after', 200),
      sameBody('after', 'before'),
      status('child after', 200),
      sameBody('child after', 'child before'),
    ],
    mend: 'Look for dependents in the transaction that deletes, and undo all of it where there are some.',
  },
  {
    id: 'DEL-4/then',
    title: 'When what was in the way is deleted, the deletion is possible',
    kind: 'changing',
    needs: base,
    after: ['DEL-4/refused'],
    steps: [
      record(),
      when('gone', 'DELETE', '{parent}'),
      settled('gone'),
      isRefused,
      given('child', 'DELETE', '{one}'),
      settled('child', 'child job'),
      when('then', 'DELETE', '{parent}'),
      settled('then', 'then job'),
    ],
    expect: [deleted('then')],
    mend: "Count live dependents alone: what was deleted softly is in nobody's way.",
  },
  {
    id: 'DEL-4/race',
    title: 'A record is not deleted while another that refers to it is made',
    kind: 'changing',
    needs: [...base, 'list', 'marker'],
    after: ['DEL-4/refused', 'DEL-1/list'],
    steps: [
      record('first'),
      given('child', 'DELETE', '{first}'),
      settled('child', 'child job'),
      together(
        when('made', 'POST', '{collection}', { body: { from: 'example' } }),
        when('made', 'POST', '{collection}', { body: { from: 'example' } }),
        when('gone', 'DELETE', '{parent}'),
        when('made', 'POST', '{collection}', { body: { from: 'example' } }),
        when('made', 'POST', '{collection}', { body: { from: 'example' } }),
      ),
      settled('gone'),
      when('parent', 'GET', '{parent}'),
      when('children', 'GET', '{collection}?{mine}'),
    ],
    expect: [
      status('children', 200),
      altogether('nothing refers to what is gone', (seen) => {
        const { answer } = seen.of('parent')
        if (answer?.status === 200) return undefined
        if (answer?.status !== 404)
          return finding(seen.of('parent'), 'status', `${answer?.status} in place of 200 or 404`)
        const dangling = itemsOf(seen.of('children').answer, seen)?.find(
          (item) => String(referenceIn(item, seen)) === seen.fill('{parent.id}'),
        )
        if (dangling === undefined) return undefined
        const { names } = seen.profile
        return finding(
          seen.of('children'),
          { pointer: names.items },
          `${short(dangling)} refers to a record that is gone`,
        )
      }),
    ],
    mend: 'Lock the record that is referred to, in both transactions: in that which deletes it, and in that which makes a reference to it.',
  },
  {
    id: 'DEL-5/no-dangling',
    title: 'Where a record that others refer to is deleted, they go too, or refer to nothing',
    kind: 'changing',
    needs: base,
    after: ['DEL-1/gone'],
    steps: [
      record(),
      when('gone', 'DELETE', '{parent}'),
      isDeleted,
      settled('gone'),
      when('parent', 'GET', '{parent}'),
      // A job may find out later that it cannot be done.
      about('what others refer to is not deleted', answered('parent', 404)),
      when('child', 'GET', '{one}'),
    ],
    expect: [
      status('child', 200, 404),
      altogether('the other does not refer to what is gone', (seen) => {
        const { answer } = seen.of('child')
        if (answer?.status !== 200) return undefined
        const reference = referenceIn(recordOf(answer, seen), seen)
        if (String(reference) !== seen.fill('{parent.id}')) return undefined
        const [name = ''] = Object.keys(seen.collection.references)
        return finding(seen.of('child'), { pointer: `/${name}` }, `it refers to ${reference}, which is gone`)
      }),
    ],
    mend: 'Say of each reference what a deletion does to it: forbid it (409), take the other along, or set it to null, in one transaction.',
  },
  {
    id: 'DEL-5/cascade',
    title: 'A deletion that takes dependents along takes all of them',
    kind: 'changing',
    needs: [...base, 'list', 'marker'],
    after: ['DEL-5/no-dangling', 'DEL-1/list'],
    steps: [
      records('three', 3),
      given('before', 'GET', '{collection}?{mine}'),
      when('gone', 'DELETE', '{parent}'),
      isDeleted,
      settled('gone'),
      when('child', 'GET', '{three.0}'),
      about('dependents stay', answered('child', 404)),
      when('after', 'GET', '{collection}?{mine}'),
    ],
    expect: [shows('before', ['three.0', 'three.1', 'three.2']), shows('after', [], ['three.0', 'three.1', 'three.2'])],
    mend: 'Delete every record that refers to it in the same transaction.',
  },
  {
    id: 'DEL-5/own-variant',
    title: 'A dependent that goes along is kept where its own collection keeps what is deleted',
    kind: 'changing',
    needs: [...base, 'list', 'marker', 'soft'],
    after: ['DEL-5/no-dangling', 'DEL-1/kept'],
    steps: [
      record(),
      when('gone', 'DELETE', '{parent}'),
      isDeleted,
      settled('gone'),
      when('child', 'GET', '{one}'),
      about('dependents stay', answered('child', 404)),
      when('kept', 'GET', '{collection}?{mine}&include_deleted=true'),
    ],
    expect: [shows('kept', ['one'])],
    mend: 'Delete each dependent by the variant of its own collection, not by the database\'s "on delete cascade".',
  },
  {
    id: 'DEL-5/clear',
    title: 'A reference that is cleared becomes null, and nothing else of the record is lost',
    kind: 'changing',
    needs: base,
    after: ['DEL-5/no-dangling'],
    steps: [
      record(),
      when('gone', 'DELETE', '{parent}'),
      isDeleted,
      settled('gone'),
      when('child', 'GET', '{one}'),
      about('dependents go too', answered('child', 200)),
    ],
    expect: [
      altogether('the reference is null, and the rest as it was', (seen) => {
        const exchange = seen.of('child')
        const [first = ''] = Object.keys(seen.collection.references)
        const sent = JSON.parse(seen.of('one').asked.body ?? '{}') as Readonly<Record<string, unknown>>
        const now = (exchange.answer && recordOf(exchange.answer, seen)) as Readonly<Record<string, unknown>>
        for (const [name, was] of Object.entries({ ...sent, [first]: null })) {
          if (short(now?.[name]) === short(was)) continue
          return finding(
            exchange,
            { pointer: `/${name}` },
            `${name} is ${short(now?.[name])} in place of ${short(was)}`,
          )
        }
        return undefined
      }),
    ],
    mend: 'Set the reference itself to null, and leave the other columns as they are.',
  },
]
