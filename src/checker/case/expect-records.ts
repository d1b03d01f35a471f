/** What cases expect of records, by the names of the steps that made them. */
import { type Answer, jsonOf } from '../client/exchange.ts'
import { isSame, memberPointer, valueAt } from '../values/json.ts'
import type { Expectation, Observations } from './case.ts'
import { answerOf, finding, itemsOf, short, status } from './expect.ts'
import type { Reference } from './references.ts'

/** A deletion was made, or accepted: one of the three good answers (DEL-2). */
export function deleted(step: Reference): Expectation {
  return status(step, 204, 200, 202)
}

/** A list holds these of the records that were made, and not those. */
export function shows(step: Reference, those: readonly Reference[], notThose: readonly Reference[] = []): Expectation {
  return answerOf(step, (answer, seen, exchange) => {
    const at = { pointer: seen.profile.names.items }
    const held = itemsOf(answer, seen)?.map((item) => String(item?.[seen.collection.id]))
    if (held === undefined) return finding(exchange, at, `${answer.status} without a list`)
    const lacking = those.find(({ id }) => !held.includes(seen.fill(id)))
    if (lacking !== undefined) return finding(exchange, at, `${lacking.name} (${seen.fill(lacking.id)}) is not there`)
    const extra = notThose.find(({ id }) => held.includes(seen.fill(id)))
    if (extra === undefined) return undefined
    return finding(exchange, at, `${extra.name} (${seen.fill(extra.id)}) is there`)
  })
}

/** The record that a step made, as a list shows it; `undefined` where it does not. */
export function listed(
  answer: Answer | undefined,
  record: Reference,
  seen: Observations,
): Readonly<Record<string, unknown>> | undefined {
  const id = seen.fill(record.id)
  return itemsOf(answer, seen)?.find((item) => String(item?.[seen.collection.id]) === id)
}

/** The record that an answer holds: its body, or what its body holds where lists hold theirs. */
export function recordOf(
  answer: Answer,
  { profile, collection }: Pick<Observations, 'profile' | 'collection'>,
): unknown {
  const [body, wrapped] = [jsonOf(answer), valueAt(jsonOf(answer), profile.names.items)]
  return valueAt(body, memberPointer(collection.id)) === undefined ? (wrapped ?? body) : body
}

/** A record, as an answer holds it, has the members that it was made with, and its identifier. */
export function asMade(
  step: Reference,
  made: Reference,
  recordIn: (answer: Answer, seen: Observations) => unknown = recordOf,
): Expectation {
  return answerOf(step, (answer, seen, exchange) => {
    const record = recordIn(answer, seen)
    const sent = JSON.parse(seen.of(made).asked.body ?? '{}') as Readonly<Record<string, unknown>>
    const before = seen.of(made).answer
    // The expected value is the one in the response of the creation.
    const wanted = Object.keys(sent).map(
      (name) => [name, before && valueAt(recordOf(before, seen), memberPointer(name))] as const,
    )
    if (typeof record !== 'object' || record === null) return 'there is no record'
    for (const [name, value] of [[seen.collection.id, seen.fill(made.id)] as const, ...wanted]) {
      const now = (record as Readonly<Record<string, unknown>>)[name]
      if (value === undefined || isSame(now, value) || (name === seen.collection.id && String(now) === value)) continue
      return finding(exchange, { pointer: memberPointer(name) }, `${name} is ${short(now)}, and was ${short(value)}`)
    }
    return undefined
  })
}

/** Of requests that were made at once exactly one is answered 2xx, and the others with one of these. */
export function oneWins(step: Reference, ...others: readonly number[]): Expectation {
  return (seen) => {
    const all = seen.all(step)
    const won = all.filter(({ answer }) => answer !== undefined && answer.status < 300)
    const odd = all.find(
      ({ answer }) => answer === undefined || (answer.status >= 300 && !others.includes(answer.status)),
    )
    if (odd !== undefined) {
      return finding(odd, 'status', `${odd.answer?.status ?? odd.failure} in place of ${others.join(' or ')}`)
    }
    if (won.length === 1) return undefined
    return finding(won[1] ?? all[0], 'status', `${won.length} of ${all.length} were answered 2xx`)
  }
}

/** Whether the list of a step contains a record. */
export function isListed(step: Reference, record: Reference): (seen: Observations) => boolean {
  return (seen) => listed(seen.of(step).answer, record, seen) !== undefined
}

/** Whether a list shows exactly these of the records that were made, and nothing else: the filter works. */
export function isExactly(step: Reference, ...records: readonly Reference[]): (seen: Observations) => boolean {
  return (seen) => {
    const found = itemsOf(seen.of(step).answer, seen)?.map((item) => String(item?.[seen.collection.id]))
    return isSame(found?.toSorted(), records.map(({ id }) => seen.fill(id)).toSorted())
  }
}
