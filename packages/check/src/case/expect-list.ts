/** What cases expect of lists. */
import { type Answer, type Exchange, jsonOf, linksOf } from '../client/exchange.ts'
import { valueAt } from '../values/json.ts'
import type { Expectation, Observations } from './case.ts'
import { answerOf, everyAnswerOf, finding, itemsOf, type Objection, short, totalOf, unless } from './expect.ts'
import { mark, type Reference } from './references.ts'

/** The identifiers in a list; `undefined` if the value is no list. */
export function idsOf(answer: Answer | undefined, seen: Observations): string[] | undefined {
  return itemsOf(answer, seen)?.map((item) => String(item?.[seen.collection.id]))
}

/** The records of a list that have the mark of the case. */
export function ownItems(answer: Answer | undefined, seen: Observations): readonly Item[] | undefined {
  const text = seen.fill(mark)
  return itemsOf(answer, seen)?.filter((each) => JSON.stringify(each).includes(text))
}

/** How many records of the case a list shows. */
export function ownCount(step: Reference, seen: Observations): number | undefined {
  return ownItems(seen.of(step).answer, seen)?.length
}

/** A list holds exactly these records, in whichever order; the name of a step that made several is that of all. */
export function lists(step: Reference, ...records: readonly Reference[]): Expectation {
  return answerOf(step, (answer, seen, exchange) => {
    if (answer.status !== 200) return finding(exchange, 'status', `${answer.status} in place of 200`)
    const ids = idsOf(answer, seen)
    if (ids === undefined) return noList(exchange, seen)
    const wrong = difference(ids, records, seen)
    return wrong === undefined ? undefined : finding(exchange, itemsPart(seen), wrong)
  })
}

/** An answer shows nothing of these records: it is refused, or a list without them. */
export function showsNone(step: Reference, ...records: readonly Reference[]): Expectation {
  return answerOf(step, (answer, seen, exchange) => {
    if (answer.status >= 500) return finding(exchange, 'status', `${answer.status}, a failure of the server`)
    const shown = records.flatMap(seen.ids).find((id) => idsOf(answer, seen)?.includes(id))
    return shown === undefined ? undefined : finding(exchange, itemsPart(seen), `the record ${shown} is in it`)
  })
}

/** All answers of a step together hold each of these records exactly once. */
export function eachOnce(step: Reference, ...records: readonly Reference[]): Expectation {
  return everyAnswerOf(step, (_, seen, exchange) => {
    const pages = seen.all(step).map(({ answer }) => idsOf(answer, seen))
    if (pages.includes(undefined)) return noList(exchange, seen)
    const ids = pages.flat()
    for (const id of records.flatMap(seen.ids)) {
      const times = ids.filter((each) => each === id).length
      if (times === 1) continue
      const often = times === 0 ? 'on none of' : `${times} times on`
      return finding(seen.of(step), itemsPart(seen), `the record ${id} came ${often} ${pages.length} pages`)
    }
    return undefined
  })
}

/** A list gives a cursor to the next or the previous page, or none. */
export function cursorAt(step: Reference, which: 'next' | 'previous', wanted: 'a cursor' | 'none'): Expectation {
  return answerOf(step, (answer, { profile }, exchange) => {
    const value = valueAt(jsonOf(answer), profile.names[which])
    const isGiven = typeof value === 'string' && value !== ''
    if (isGiven === (wanted === 'a cursor')) return undefined
    const part = { pointer: profile.names[which] }
    return finding(exchange, part, `${short(value)} in place of ${wanted === 'none' ? 'null' : wanted}`)
  })
}

export function theItems(step: Reference, test: Objection<readonly Item[]>): Expectation {
  return answerOf(step, (answer, seen, exchange) => {
    const items = itemsOf(answer, seen)
    if (items === undefined) return noList(exchange, seen)
    const wrong = test(items, seen)
    return wrong === undefined ? undefined : finding(exchange, itemsPart(seen), wrong)
  })
}

export type Item = Readonly<Record<string, unknown>>

export function holds(step: Reference, count: number): Expectation {
  return theItems(step, ({ length }) => unless(length === count, `${length} records in place of ${count}`))
}

/**
 * Whether a response shows that it has only a part of its list: the total is larger, there is a next page, or a created
 * record is missing.
 */
export function isPart(answer: Answer | undefined, seen: Observations, made: readonly string[] = []): boolean {
  const ids = idsOf(answer, seen)
  if (answer === undefined || ids === undefined) return false
  const next = valueAt(jsonOf(answer), seen.profile.names.next)
  return (
    (totalOf(answer, seen) ?? 0) > ids.length ||
    (typeof next === 'string' && next !== '') ||
    linksOf(answer, seen.profile.base).has('next') ||
    made.some((id) => !ids.includes(id))
  )
}

/** The list is not where the profile says. */
export function noList(exchange: Exchange, { profile }: Observations) {
  const { items } = profile.names
  return finding(exchange, exchange.answer?.status === 200 ? 'body' : 'status', noListSaid(exchange, items))
}

function noListSaid({ answer, failure }: Exchange, items: string): string {
  if (answer === undefined) return `no answer came: ${failure}`
  if (answer.status !== 200) return `${answer.status} in place of 200: ${short(answer.body)}`
  return `there is no array ${items === '' ? 'in the body' : `at ${items}`}`
}

/** Where a response holds the records of a list. */
export function itemsPart({ profile }: Observations) {
  return profile.names.items === '' ? ('body' as const) : { pointer: profile.names.items }
}

function difference(ids: readonly string[], records: readonly Reference[], seen: Observations): string | undefined {
  const wanted = new Map(records.flatMap((step) => seen.ids(step).map((id) => [id, step.name] as const)))
  const missing = [...wanted].filter(([id]) => !ids.includes(id)).map(([, name]) => name)
  const surplus = ids.filter((id) => !wanted.has(id))
  if (missing.length > 0) return `${ids.length} records, and ${missing.join(', ')} is not among them`
  if (surplus.length > 0)
    return (
      `${surplus.length} of ${ids.length} records do not belong there, such as that with the ${seen.collection.id} ` +
      `${surplus[0]}`
    )
  return ids.length === wanted.size ? undefined : 'a record is there twice'
}
