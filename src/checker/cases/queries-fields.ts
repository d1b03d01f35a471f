/** QRY-4: which members are returned. */
import type { Case, Expectation } from '../case/case.ts'
import { answerOf, finding, itemsOf } from '../case/expect.ts'
import { NotSetUp } from '../case/not-judged.ts'
import { given, record, when } from '../case/steps.ts'
import { jsonOf } from '../client/exchange.ts'

const needs = ['create', 'list', 'marker'] as const
const whole = given('whole', 'GET', '{collection}?{mine}')

/** The record in an answer, or the first of its list, has these members, and no others than them and perhaps its identifier. */
function hasOnly(step: string, ...members: readonly string[]): Expectation {
  return answerOf(step, `returns ${members.join(' and ')} alone`, (answer, seen, exchange) => {
    if (answer.status !== 200) return finding(exchange, 'status', `${answer.status} in place of 200`)
    const { items } = seen.profile.names
    const list = itemsOf(answer, seen)
    const whole = (list === undefined ? jsonOf(answer) : list[0]) as Readonly<Record<string, unknown>> | undefined
    const part = list === undefined ? 'body' : ({ pointer: `${items}/0` } as const)
    if (typeof whole !== 'object' || whole === null) return finding(exchange, part, 'there is no record in it')
    const wanted = members.map(seen.fill)
    const all = Object.keys(itemsOf(seen.of('whole').answer, seen)?.[0] ?? {})
    if (all.every((name) => wanted.includes(name) || name === seen.collection.id)) {
      throw new NotSetUp('the record has no members that fields could leave out')
    }
    const missing = wanted.filter((name) => !Object.hasOwn(whole, name))
    if (missing.length > 0) return finding(exchange, part, `${missing.join(', ')} is not there`)
    const surplus = Object.keys(whole).filter((name) => !wanted.includes(name) && name !== seen.collection.id)
    return surplus.length === 0 ? undefined : finding(exchange, part, `${surplus.join(', ')} came along`)
  })
}

export const fieldsCases: readonly Case[] = [
  {
    id: 'QRY-4/list',
    title: 'fields restricts what a list returns of its records',
    kind: 'changing',
    needs,
    steps: [record(), whole, when('some', 'GET', '{collection}?{mine}&fields={member:marker}')],
    expect: [hasOnly('some', '{member:marker}')],
    mend: 'Return of each record only the members that fields names.',
  },
  {
    id: 'QRY-4/several',
    title: 'fields takes several names, separated by commas',
    kind: 'changing',
    needs,
    after: ['QRY-4/list'],
    steps: [record(), whole, when('some', 'GET', '{collection}?{mine}&fields={id},{member:marker}')],
    expect: [hasOnly('some', '{id}', '{member:marker}')],
    mend: 'Take fields apart at commas.',
  },
  {
    id: 'QRY-4/record',
    title: 'fields restricts what is returned of a single record',
    kind: 'changing',
    needs: [...needs, 'read'],
    level: 'should',
    steps: [record(), whole, when('some', 'GET', '{one}?fields={member:marker}')],
    expect: [hasOnly('some', '{member:marker}')],
    mend: 'Understand fields at the address of a record as on its collection.',
  },
  {
    id: 'QRY-4/id',
    title: 'The identifier always comes along',
    kind: 'changing',
    needs,
    level: 'should',
    after: ['QRY-4/list'],
    steps: [record(), whole, when('some', 'GET', '{collection}?{mine}&fields={member:marker}')],
    expect: [hasOnly('some', '{id}', '{member:marker}')],
    mend: 'Add the identifier to what fields names: without it a client cannot tell which record it has.',
  },
]
