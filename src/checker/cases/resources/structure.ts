/** RES-7 and RES-8: how members are named, and that records look the same wherever they are answered. */
import type { Case, Expectation, Finding } from '../../case/case.ts'
import { altogether, finding, itemsOf, onlyWhere } from '../../case/expect.ts'
import { listed, namesOf, recordOf, sameMembers, theRecord } from '../../case/records.ts'
import { each, given, record, when } from '../../case/steps.ts'
import { snakeCase } from '../../case/words.ts'
import { type Exchange, jsonOf } from '../../client/exchange.ts'
import { isObject, memberPointer, pointerTo } from '../../values/json.ts'

function badName(exchange: Exchange, value: unknown, where: string): Finding | undefined {
  if (!isObject(value)) return undefined
  const name = Object.keys(value).find((one) => !snakeCase.test(one))
  if (name === undefined) return undefined
  const at = pointerTo(exchange.answer && jsonOf(exchange.answer), value) ?? ''
  return finding(exchange, { pointer: at + memberPointer(name) }, `${where} has a member ${name}`)
}

/** A PUT or POST may have been answered without the record. */
function onlyWhereRecord(step: string): Expectation {
  return onlyWhere('the answer holds the record', (seen) => {
    const { answer } = seen.of(step)
    return answer !== undefined && answer.status < 300 && recordOf(answer, seen) !== undefined
      ? undefined
      : 'the answer holds no record'
  })
}

export const names: readonly Case[] = [
  {
    id: 'RES-7/records',
    title: 'The members of records are named in snake_case',
    kind: 'changing',
    needs: ['create', 'list'],
    steps: [record(), each('lists', 'GET', '{collection}')],
    expect: [
      altogether('every member of a record is in snake_case', (seen) => {
        const one = seen.of('one')
        for (const exchange of seen.all('lists')) {
          const where = `a record of ${new URL(exchange.asked.url).pathname}`
          for (const item of itemsOf(exchange.answer, seen) ?? []) {
            const wrong = badName(exchange, item, where)
            if (wrong !== undefined) return wrong
          }
        }
        return badName(one, recordOf(one.answer, seen), 'the record')
      }),
    ],
    mend: 'Write the members of all records in lower case with underscores between words: created_at.',
  },
  {
    id: 'RES-7/lists',
    title: 'What lists tell beside records is named in snake_case',
    kind: 'reading',
    needs: ['list'],
    steps: [given('list', 'GET', '{collection}')],
    expect: [
      altogether('every other member of a list is in snake_case', (seen) => {
        const list = seen.of('list')
        const body = list.answer && jsonOf(list.answer)
        const inner = isObject(body) ? Object.entries(body) : []
        return (
          badName(list, body, 'the list') ??
          inner.map(([name, value]) => badName(list, value, name)).find((wrong) => wrong !== undefined)
        )
      }),
    ],
    mend: 'Write what stands around the records of a list in the convention of the records: total_count.',
  },
  {
    id: 'RES-7/errors',
    title: 'The members of errors are named in snake_case',
    kind: 'changing',
    needs: ['create', 'required'],
    steps: [when('refused', 'POST', '{collection}', { body: { json: {} } })],
    expect: [
      onlyWhere('errors are told in JSON', (seen) => {
        const { answer } = seen.of('refused')
        return answer !== undefined && answer.status >= 400 && isObject(jsonOf(answer))
          ? undefined
          : `POST of an empty object was answered ${answer?.status}, without an error in JSON`
      }),
      altogether('every member of an error is in snake_case', (seen) => {
        const refused = seen.of('refused')
        const body = refused.answer && jsonOf(refused.answer)
        const errors = isObject(body) ? Object.values(body).filter(Array.isArray).flat() : []
        return (
          badName(refused, body, 'the error') ??
          errors.map((one) => badName(refused, one, 'one of the errors')).find((wrong) => wrong !== undefined)
        )
      }),
    ],
    mend: 'Write the members of errors in the convention of the records.',
  },
]

export const structure: readonly Case[] = [
  {
    id: 'RES-8/created',
    title: 'The answer to POST has the members that GET has',
    kind: 'changing',
    needs: ['create', 'read'],
    after: ['RES-4/id'],
    steps: [record(), given('read', 'GET', '{one}')],
    expect: [onlyWhereRecord('one'), sameMembers('one', 'read')],
    mend: 'Write records in one place of the code, whichever address answers them.',
  },
  {
    id: 'RES-8/listed',
    title: 'A record in a list has the members that GET of it has',
    kind: 'changing',
    needs: ['create', 'read', 'list', 'marker'],
    steps: [record(), given('read', 'GET', '{one}'), given('list', 'GET', '{collection}?{mine}')],
    expect: [
      onlyWhere('the list shows it', (seen) =>
        listed(seen.of('list').answer, seen, seen.fill('{one.id}')) ? undefined : 'the list does not show the record',
      ),
      sameMembers('list', 'read', (answer, where) => itemsOf(answer, where)?.find((item) => isObject(item))),
    ],
    mend: 'Write records of lists as single ones are written, and let clients ask for less with fields.',
  },
  {
    id: 'RES-8/updated',
    title: 'The answer to PATCH has the members that GET has',
    kind: 'changing',
    needs: ['create', 'read', 'update', 'change', 'unconditional'],
    steps: [record(), given('changed', 'PATCH', '{one}', { body: { from: 'change' } }), given('read', 'GET', '{one}')],
    expect: [onlyWhereRecord('changed'), sameMembers('changed', 'read')],
    mend: 'Answer PATCH with the whole record as GET does, not only with what was changed.',
  },
  {
    id: 'RES-8/replaced',
    title: 'The answer to PUT has the members that GET has',
    kind: 'changing',
    needs: ['create', 'read', 'replace', 'unconditional'],
    steps: [
      record(),
      given('replaced', 'PUT', '{one}', { body: { from: { sent: 'one' } } }),
      given('read', 'GET', '{one}'),
    ],
    expect: [onlyWhereRecord('replaced'), sameMembers('replaced', 'read')],
    mend: 'Answer PUT with the whole record as GET does.',
  },
  {
    id: 'RES-8/nested',
    title: 'A record in a list below another has the members that GET of it has',
    kind: 'changing',
    needs: ['create', 'read', 'list', 'nested'],
    after: ['RES-2/nested'],
    steps: [record(), given('read', 'GET', '{one}'), given('below', 'GET', '{nested}')],
    expect: [sameMembers('below', 'read', (answer, where) => itemsOf(answer, where)?.[0])],
    mend: 'Write records of nested lists as all others, with the reference to what they belong to.',
  },
  {
    id: 'RES-8/restored',
    title: 'The answer to restore has the members that GET has',
    kind: 'changing',
    needs: ['create', 'read', 'delete', 'restore', 'soft', 'unconditional'],
    steps: [
      record(),
      given('gone', 'DELETE', '{one}'),
      when('restored', 'POST', '{one}/restore'),
      when('read', 'GET', '{one}'),
    ],
    expect: [onlyWhereRecord('restored'), onlyWhereRecord('read'), sameMembers('restored', 'read')],
    mend: 'Answer restore with the whole record as GET does.',
  },
  {
    id: 'RES-8/empty',
    title: 'A member that has no value is there all the same',
    kind: 'changing',
    needs: ['create', 'read', 'optional'],
    // The specification asks for one structure; how what is empty is written is our decision.
    level: 'should',
    steps: [
      record('other'),
      given('full', 'POST', '{collection}', { body: { from: 'example', plus: 'optional' } }),
      given('before', 'GET', '{full}'),
      given('empty', 'POST', '{collection}', { body: { from: 'least' } }),
      when('after', 'GET', '{empty}'),
    ],
    expect: [
      theRecord('after', 'has every member', (found, seen) => {
        const full = recordOf(seen.of('before').answer, seen) ?? {}
        const lacking = namesOf(full).filter((name) => !Object.hasOwn(found, name))
        return lacking.length === 0 ? undefined : { message: `it lacks ${lacking.join(', ')}, which another has` }
      }),
    ],
    mend: 'Write null where a member has no value, so that every record of a kind has the same members.',
  },
]
