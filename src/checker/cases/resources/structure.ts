/** RES-7 and RES-8: how members are named, and that records look the same wherever they are answered. */
import type { Expectation, Finding } from '../../case/case.ts'
import { define } from '../../case/define.ts'
import { altogether, applicableWhere, finding, itemsOf } from '../../case/expect.ts'
import {
  after,
  before,
  below,
  changed,
  empty,
  gone,
  listings,
  list as listStep,
  one as oneStep,
  other,
  read,
  refusal,
} from '../../case/names.ts'
import { listed, namesOf, recordOf, sameMembers, theRecord } from '../../case/records.ts'
import { caseRecords, collection, nestedList, type Reference, references } from '../../case/references.ts'
import { body, create, forEachCollection, setUp } from '../../case/steps.ts'
import { snakeCase } from '../../case/words.ts'
import { type Exchange, jsonOf } from '../../client/exchange.ts'
import { isObject, memberPointer, pointerTo } from '../../values/json.ts'

const [replaced, restored, fullStep] = references('replaced', 'restored', 'full')

function badName(exchange: Exchange, value: unknown, where: string): Finding | undefined {
  if (!isObject(value)) return undefined
  const name = Object.keys(value).find((one) => !snakeCase.test(one))
  if (name === undefined) return undefined
  const at = pointerTo(exchange.answer && jsonOf(exchange.answer), value) ?? ''
  return finding(exchange, { pointer: at + memberPointer(name) }, `${where} has a member ${name}`)
}

/** A PUT or POST may have been answered without the record. */
function onlyWhereRecord(step: Reference): Expectation {
  return applicableWhere('the answer holds the record', (seen) => {
    const { answer } = seen.of(step)
    return answer !== undefined && answer.status < 300 && recordOf(answer, seen) !== undefined
      ? undefined
      : 'the answer holds no record'
  })
}

export const names = define({
  'RES-7/records': {
    title: 'The members of records are named in snake_case',
    steps: [create(oneStep), forEachCollection(listings.get(collection))],
    expect: [
      altogether('every member of a record is in snake_case', (seen) => {
        const one = seen.of(oneStep)
        for (const exchange of seen.all(listings)) {
          const where = `a record of ${new URL(exchange.asked.url).pathname}`
          for (const item of itemsOf(exchange.answer, seen) ?? []) {
            const wrong = badName(exchange, item, where)
            if (wrong !== undefined) return wrong
          }
        }
        return badName(one, recordOf(one.answer, seen), 'the record')
      }),
    ],
    remedy: 'Write the members of all records in lower case with underscores between words: created_at.',
  },
  'RES-7/lists': {
    title: 'What lists tell beside records is named in snake_case',
    steps: [setUp(listStep.get(collection))],
    expect: [
      altogether('every other member of a list is in snake_case', (seen) => {
        const list = seen.of(listStep)
        const body = list.answer && jsonOf(list.answer)
        const inner = isObject(body) ? Object.entries(body) : []
        return (
          badName(list, body, 'the list') ??
          inner.map(([name, value]) => badName(list, value, name)).find((wrong) => wrong !== undefined)
        )
      }),
    ],
    remedy: 'Write what stands around the records of a list in the convention of the records: total_count.',
  },
  'RES-7/errors': {
    title: 'The members of errors are named in snake_case',
    needs: ['required'],
    steps: [refusal.post(collection, body.json({}))],
    expect: [
      applicableWhere('errors are told in JSON', (seen) => {
        const { answer } = seen.of(refusal)
        return answer !== undefined && answer.status >= 400 && isObject(jsonOf(answer))
          ? undefined
          : `POST of an empty object was answered ${answer?.status}, without an error in JSON`
      }),
      altogether('every member of an error is in snake_case', (seen) => {
        const refused = seen.of(refusal)
        const body = refused.answer && jsonOf(refused.answer)
        const errors = isObject(body) ? Object.values(body).filter(Array.isArray).flat() : []
        return (
          badName(refused, body, 'the error') ??
          errors.map((one) => badName(refused, one, 'one of the errors')).find((wrong) => wrong !== undefined)
        )
      }),
    ],
    remedy: 'Write the members of errors in the convention of the records.',
  },
})

export const structure = define({
  'RES-8/created': {
    title: 'The answer to POST has the members that GET has',
    after: ['RES-4/id'],
    steps: [create(oneStep), setUp(read.get(oneStep))],
    expect: [onlyWhereRecord(oneStep), sameMembers(oneStep, read)],
    remedy: 'Write records in one place of the code, whichever address answers them.',
  },
  'RES-8/listed': {
    title: 'A record in a list has the members that GET of it has',
    steps: [create(oneStep), setUp(read.get(oneStep)), setUp(listStep.get(caseRecords))],
    expect: [
      applicableWhere('the list shows it', (seen) =>
        listed(seen.of(listStep).answer, seen, seen.fill(oneStep.id)) ? undefined : 'the list does not show the record',
      ),
      sameMembers(listStep, read, (answer, where) => itemsOf(answer, where)?.find((item) => isObject(item))),
    ],
    remedy: 'Write records of lists as single ones are written, and let clients ask for less with fields.',
  },
  'RES-8/updated': {
    title: 'The answer to PATCH has the members that GET has',
    steps: [create(oneStep), setUp(changed.patch(oneStep, body.change)), setUp(read.get(oneStep))],
    expect: [onlyWhereRecord(changed), sameMembers(changed, read)],
    remedy: 'Answer PATCH with the whole record as GET does, not only with what was changed.',
  },
  'RES-8/replaced': {
    title: 'The answer to PUT has the members that GET has',
    steps: [create(oneStep), setUp(replaced.put(oneStep, body.sentBy(oneStep))), setUp(read.get(oneStep))],
    expect: [onlyWhereRecord(replaced), sameMembers(replaced, read)],
    remedy: 'Answer PUT with the whole record as GET does.',
  },
  'RES-8/nested': {
    title: 'A record in a list below another has the members that GET of it has',
    after: ['RES-2/nested'],
    steps: [create(oneStep), setUp(read.get(oneStep)), setUp(below.get(nestedList))],
    expect: [sameMembers(below, read, (answer, where) => itemsOf(answer, where)?.[0])],
    remedy: 'Write records of nested lists as all others, with the reference to what they belong to.',
  },
  'RES-8/restored': {
    title: 'The answer to restore has the members that GET has',
    needs: ['soft'],
    steps: [create(oneStep), setUp(gone.delete(oneStep)), restored.post(`${oneStep}/restore`), read.get(oneStep)],
    expect: [onlyWhereRecord(restored), onlyWhereRecord(read), sameMembers(restored, read)],
    remedy: 'Answer restore with the whole record as GET does.',
  },
  'RES-8/empty': {
    title: 'A member that has no value is there all the same',
    needs: ['optional'],
    // The specification asks for one structure; how what is empty is written is our decision.
    level: 'should',
    steps: [
      create(other),
      setUp(fullStep.post(collection, body.fullExample)),
      setUp(before.get(fullStep)),
      setUp(empty.post(collection, body.least)),
      after.get(empty),
    ],
    expect: [
      theRecord(after, 'has every member', (found, seen) => {
        const full = recordOf(seen.of(before).answer, seen) ?? {}
        const lacking = namesOf(full).filter((name) => !Object.hasOwn(found, name))
        return lacking.length === 0 ? undefined : { message: `it lacks ${lacking.join(', ')}, which another has` }
      }),
    ],
    remedy: 'Write null where a member has no value, so that every record of a kind has the same members.',
  },
})
