/** Builds the bodies of requests: valid, changed, incomplete and invalid ones of a case's collection. */
import { type Body, type CaseState, NotSetUp } from '../case/case.ts'
import { fill, fillAll } from '../case/fill.ts'
import { objectMemberOf } from '../case/members.ts'
import { jsonOf } from '../client/exchange.ts'
import type { CollectionProfile } from '../profile/profile.ts'
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
      return markedExample(state)
    case 'least':
      return without(markedExample(state), Object.keys(collection.optional))
    case 'change':
    case 'invalid':
      return collection[from]
    case 'mark': {
      const member = collection.marker ?? collection.label
      return member === undefined ? {} : { [member]: mark }
    }
    case 'part': {
      const found = objectMemberOf(collection)
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

/** A body that creates a record of a case, with the mark of the case. */
function markedExample({ collection, mark, made }: CaseState): JsonObject {
  const { example, unique, marker, label } = collection
  if (example === undefined) throw new NotSetUp(`no body is known that creates a record of ${collection.name}`)
  const body = newExample(collection, (other) => made.get(`parent ${other}`)?.id)
  if (marker !== undefined) return { ...body, [marker]: unique.includes(marker) ? `${mark}-${examples}` : mark }
  return label === undefined ? body : { ...body, [label]: `${body[label] ?? ''} ${mark}`.trim() }
}

let examples = 0

/**
 * The example of a collection with new values of its unique members.
 *
 * @param idOf the identifier of a record of another collection to which the new record refers
 */
export function newExample(
  { example = {}, unique, references, schemas = {} }: CollectionProfile,
  idOf: (collection: string) => string | undefined,
): JsonObject {
  const body: Record<string, unknown> = { ...example }
  examples++
  for (const member of unique) {
    if (Object.hasOwn(body, member)) body[member] = uniqueValue(body[member], examples, schemas[member])
  }
  for (const [member, other] of Object.entries(references)) {
    const id = idOf(other)
    const isNumber = typeof body[member] === 'number' || schemas[member]?.['type'] === 'integer'
    if (id !== undefined) body[member] = isNumber ? Number(id) : id
  }
  return body
}
