/** QRY-4: which members are returned. */
import type { Expectation } from '../case/case.ts'
import { define } from '../case/define.ts'
import { answerOf, finding, itemsOf } from '../case/expect.ts'
import { one, whole as wholeStep } from '../case/names.ts'
import { NotSetUp } from '../case/not-judged.ts'
import { caseRecords, idMember, members, type Reference, references } from '../case/references.ts'
import { create, setUp } from '../case/steps.ts'
import { jsonOf } from '../client/exchange.ts'

const [some] = references('some')

const whole = setUp(wholeStep.get(caseRecords))

/** The record in an answer, or the first of its list, has these members, and no others than them and perhaps its identifier. */
function hasOnly(step: Reference, ...members: readonly string[]): Expectation {
  return answerOf(step, `returns ${members.join(' and ')} alone`, (answer, seen, exchange) => {
    if (answer.status !== 200) return finding(exchange, 'status', `${answer.status} in place of 200`)
    const { items } = seen.profile.names
    const list = itemsOf(answer, seen)
    const whole = (list === undefined ? jsonOf(answer) : list[0]) as Readonly<Record<string, unknown>> | undefined
    const part = list === undefined ? 'body' : ({ pointer: `${items}/0` } as const)
    if (typeof whole !== 'object' || whole === null) return finding(exchange, part, 'there is no record in it')
    const wanted = members.map(seen.fill)
    const all = Object.keys(itemsOf(seen.of(wholeStep).answer, seen)?.[0] ?? {})
    if (all.every((name) => wanted.includes(name) || name === seen.collection.id)) {
      throw new NotSetUp('the record has no members that fields could leave out')
    }
    const missing = wanted.filter((name) => !Object.hasOwn(whole, name))
    if (missing.length > 0) return finding(exchange, part, `${missing.join(', ')} is not there`)
    const surplus = Object.keys(whole).filter((name) => !wanted.includes(name) && name !== seen.collection.id)
    return surplus.length === 0 ? undefined : finding(exchange, part, `${surplus.join(', ')} came along`)
  })
}

export const fieldsCases = define({
  'QRY-4/list': {
    title: 'fields restricts what a list returns of its records',
    steps: [create(one), whole, some.get(`${caseRecords}&fields=${members.marker}`)],
    expect: [hasOnly(some, members.marker)],
    remedy: 'Return of each record only the members that fields names.',
  },
  'QRY-4/several': {
    title: 'fields takes several names, separated by commas',
    after: ['QRY-4/list'],
    steps: [create(one), whole, some.get(`${caseRecords}&fields=${idMember},${members.marker}`)],
    expect: [hasOnly(some, idMember, members.marker)],
    remedy: 'Take fields apart at commas.',
  },
  'QRY-4/record': {
    title: 'fields restricts what is returned of a single record',
    level: 'should',
    steps: [create(one), whole, some.get(`${one}?fields=${members.marker}`)],
    expect: [hasOnly(some, members.marker)],
    remedy: 'Understand fields at the address of a record as on its collection.',
  },
  'QRY-4/id': {
    title: 'The identifier always comes along',
    level: 'should',
    after: ['QRY-4/list'],
    steps: [create(one), whole, some.get(`${caseRecords}&fields=${members.marker}`)],
    expect: [hasOnly(some, idMember, members.marker)],
    remedy: 'Add the identifier to what fields names: without it a client cannot tell which record it has.',
  },
})
