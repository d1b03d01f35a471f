/** Builds the bodies of requests: valid, changed, incomplete and invalid ones of a case's collection. */
import type { Body } from '../case/case.ts'
import type { CaseState } from '../case/case-state.ts'
import { fill, fillAll } from '../case/fill.ts'
import { objectOf as objectMember } from '../case/members.ts'
import { NotSetUp } from '../case/not-judged.ts'
import { jsonOf } from '../client/exchange.ts'
import { isObject, type JsonObject } from '../values/json.ts'
import { uniqueValue } from '../values/unique-value.ts'

/** The text of a body. */
export function bodyText(body: Body, state: CaseState): string {
  if ('text' in body) return fill(body.text, state)
  if ('json' in body) return JSON.stringify(fillAll(body.json, state))
  const whole = {
    ...startOf(body.from, state),
    ...uniqueMembersSent(state, body.like),
    ...(body.plus === undefined ? {} : state.collection[body.plus]),
    ...(fillAll(body.with ?? {}, state) as JsonObject),
  }
  const names = (body.without ?? []).map((name) => fill(name, state))
  return JSON.stringify(without(whole, names))
}

function without(whole: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(whole).filter(([name]) => !names.includes(name)))
}

function startOf(from: Extract<Body, { from: unknown }>['from'], state: CaseState): JsonObject {
  const { collection, exchanges, mark } = state
  switch (from) {
    case 'example':
      return newExample(state)
    case 'least':
      return without(newExample(state), Object.keys(collection.optional))
    case 'change':
    case 'invalid':
      return collection[from]
    case 'mark': {
      const member = collection.marker ?? collection.label
      return member === undefined ? {} : { [member]: mark }
    }
    case 'part': {
      const found = objectMember(collection)
      return found === undefined ? {} : { [found.member]: found.part }
    }
  }
  const { asked, answer } = exchanges.get('sent' in from ? from.sent : from.answered)?.at(-1) ?? {}
  const value = 'sent' in from ? JSON.parse(asked?.body ?? '{}') : answer && jsonOf(answer)
  if (!isObject(value)) throw new NotSetUp('a body that was to be sent again is no JSON object')
  return value
}

/** The unique members in the request of a step. */
function uniqueMembersSent({ collection, exchanges }: CaseState, step: string | undefined): JsonObject {
  if (step === undefined) return {}
  const sent = JSON.parse(exchanges.get(step)?.at(-1)?.asked.body ?? '{}') as JsonObject
  return Object.fromEntries(Object.entries(sent).filter(([name]) => collection.unique.includes(name)))
}

let examples = 0

/**
 * A body that creates a record, with new unique values, the mark of the case and identifiers of the records it refers
 * to.
 */
function newExample({ collection, mark, made }: CaseState): JsonObject {
  const { example, unique, marker, label, references, schemas = {} } = collection
  if (example === undefined) throw new NotSetUp(`no body is known that creates a record of ${collection.name}`)
  const body: Record<string, unknown> = { ...example }
  const turn = ++examples
  for (const member of unique) body[member] = uniqueValue(body[member], turn, schemas[member])
  if (marker !== undefined) body[marker] = unique.includes(marker) ? `${mark}-${turn}` : mark
  else if (label !== undefined) body[label] = `${body[label] ?? ''} ${mark}`.trim()
  for (const [member, other] of Object.entries(references)) {
    const parent = made.get(`parent ${other}`)
    if (parent === undefined) continue
    const isNumber = typeof body[member] === 'number' || schemas[member]?.['type'] === 'integer'
    body[member] = isNumber ? Number(parent.id) : parent.id
  }
  return body
}
