/**
 * Drafts through the lens of an older version (VER-2): what is sent is judged as that version has it, and then written to
 * what is stored. Fields that the version does not show stay as they are, also in a PUT.
 */
import type { Catalog, Lens, RecordValues, Resource } from '../model/resource.ts'
import type { Issue } from '../spec/faults.ts'
import { type Draft, draftOfCreate, draftOfUpdate } from './draft.ts'
import { longKeyIssues } from './longest-key.ts'
import { isObject } from './merge-patch.ts'
import { bodyOfUpdate } from './patch-record.ts'
import type { Create, Outcome, Plan, Update } from './plan.ts'
import { type Seen, seenOf } from './stored.ts'
import { needsReading } from './unread.ts'

/** The record that a POST would make. */
export function draftThrough(seen: Seen | undefined, plan: Create): Draft {
  if (seen === undefined) return withLongKeys(plan.resource, draftOfCreate(plan))
  const { shown, lens } = seen
  const parent = plan.parent && { ...plan.parent, field: lens.shown.get(plan.parent.field) ?? '' }
  const draft = draftOfCreate({ ...plan, resource: shown, parent })
  // What the version does not show has its default, or is set by the server.
  const unseen = draftOfCreate({ ...plan, body: {} })
  const values: Record<string, unknown> = { ...unseen.values }
  for (const [name, field] of lens.stored) values[field] = newerValue(seen, name, draft.values[name])
  const changed = seen.stored.fields.map(({ name }) => name).filter((name) => values[name] !== null)
  const missing = unseen.issues.filter(({ pointer = '' }) => !lens.shown.has(pointer.slice(1)))
  const issues = [...draft.issues.map((issue) => storedIssue(seen, issue)), ...missing]
  return withLongKeys(seen.stored, { values, issues, changed })
}

/** A draft of what is stored, and what of it no index holds. */
function withLongKeys(resource: Resource, draft: Draft): Draft {
  const found = longKeyIssues(resource, draft)
  return found.length === 0 ? draft : { ...draft, issues: [...draft.issues, ...found] }
}

/** What an update makes of a record: a draft, or why there is none. */
type Drafted =
  | { readonly kind: 'draft'; readonly draft: Draft }
  | { readonly kind: 'forbidden' }
  | Exclude<ReturnType<typeof bodyOfUpdate>, { kind: 'patched' }>

/**
 * The record that a PUT or PATCH would make of `current`, or why it makes none.
 *
 * @param isReadable whether the caller may read `current`
 */
export function updateThrough(seen: Seen | undefined, plan: Update, current: RecordValues, isReadable = true): Drafted {
  if (!isReadable && needsReading(plan, seen?.shown ?? plan.resource)) return { kind: 'forbidden' }
  const [asked, record] =
    seen === undefined ? [plan, current] : [{ ...plan, resource: seen.shown }, olderRecord(seen, current)]
  const body = bodyOfUpdate(asked, record)
  if (body.kind !== 'patched') return body
  const draft = draftOfUpdate(asked, record, body.value, isReadable)
  return {
    kind: 'draft',
    draft: withLongKeys(plan.resource, seen === undefined ? draft : storedDraft(seen, current, draft)),
  }
}

function storedDraft(seen: Seen, current: RecordValues, { values: shown, changed: names, issues }: Draft): Draft {
  const values: Record<string, unknown> = { ...current }
  const changed: string[] = []
  for (const name of names) {
    const field = seen.lens.stored.get(name)
    // What only the older version has is not kept.
    if (field === undefined) continue
    values[field] = newerValue(seen, name, shown[name])
    changed.push(field)
  }
  if (changed.length > 0) values['updated_at'] = shown['updated_at']
  return { values, issues: issues.map((issue) => storedIssue(seen, issue)), changed }
}

/** A stored record as an older version has it. */
export function olderRecord({ shown, lens }: Seen, record: RecordValues): RecordValues {
  const { id, created_at, updated_at, deleted_at } = record
  const values: Record<string, unknown> = { id, created_at, updated_at, deleted_at }
  for (const { name } of shown.fields) {
    const field = lens.stored.get(name)
    if (field === undefined) values[name] = lens.constants.get(name) ?? null
    else values[name] = olderValue(lens, name, record[field])
  }
  return values
}

function olderValue({ conversions }: Lens, name: string, value: unknown): unknown {
  const conversion = conversions.get(name)
  return (conversion === undefined ? value : conversion.older(value ?? null)) ?? null
}

/** @throws Error where a conversion makes what the current version does not allow: that is a mistake of the declaration */
function newerValue({ lens, stored }: Seen, name: string, value: unknown): unknown {
  const conversion = lens.conversions.get(name)
  if (conversion === undefined || value === null || value === undefined) return value ?? null
  const made = conversion.newer(value)
  const field = stored.field.get(lens.stored.get(name)!)
  if (made !== null && field?.validate(made).length !== 0) {
    throw new Error(`The conversion of ${name} in ${lens.version} makes a value that ${stored.name} does not allow.`)
  }
  return made ?? null
}

// No name of a field has it: what stands before it belongs to the older version alone.
const mark = '@'

/** An issue with the names of what is stored, as all others have them until they are told. */
function storedIssue({ lens }: Seen, issue: Issue): Issue {
  const { pointer } = issue
  if (!pointer) return issue
  const [, name = '', rest = ''] = /^\/([^/]*)(.*)$/s.exec(pointer) ?? []
  const field = lens.stored.get(name)
  if (field === name) return issue
  return field === undefined ? { ...issue, pointer: `/${name}${mark}${rest}` } : renamed(issue, name, field, rest)
}

/** An issue with the names that the client knows. */
export function shownIssue({ lens, stored }: Seen, issue: Issue): Issue {
  const { pointer } = issue
  if (!pointer) return issue
  const [, name = '', rest = ''] = /^\/([^/]*)(.*)$/s.exec(pointer) ?? []
  if (name.endsWith(mark)) return { ...issue, pointer: `/${name.slice(0, -mark.length)}${rest}` }
  if (!stored.field.has(name)) return issue
  const shown = lens.shown.get(name)
  if (shown === name) return issue
  // Of what the client cannot see it can only be told that it stands in the way.
  return shown === undefined ? { ...issue, pointer: '' } : renamed(issue, name, shown, rest)
}

/** Words that name what is stored: values that may not follow each other, collections, and fields that are unique together. */
function shownWords({ lens, stored, collections }: Seen, issue: Issue): Issue {
  let { message } = issue
  const name = issue.pointer?.slice(1) ?? ''
  const conversion = lens.conversions.get(name)
  const values = stored.field.get(lens.stored.get(name) ?? '')?.enum
  if (issue.code === 'INVALID_TRANSITION' && conversion !== undefined && values !== undefined) {
    message = message.replaceAll(/[^\s:,.]+/g, (word) =>
      values.includes(word) ? String(conversion.older(word)) : word,
    )
  }
  if (issue.code === 'DUPLICATE_VALUE' || issue.code === 'TOO_LONG' || issue.code === 'TEXT_TOO_LONG') {
    message = message.replace(/ together with .* (?:is taken|has \d)/, (part) =>
      part.replaceAll(/\w+/g, (word) => lens.shown.get(word) ?? word),
    )
  }
  const { collection = '' } = issue as { collection?: string }
  const dependent = collections.get(collection)
  if (dependent !== undefined) {
    message = message.replace(/ by (\w+);/, (_words, field) => ` by ${dependent.lens?.shown.get(field) ?? field};`)
  }
  for (const [from, { name: to }] of collections) {
    if (to !== from) message = message.replaceAll(new RegExp(`(?<![\\w-])${from}(?![\\w-])`, 'g'), to)
  }
  return { ...issue, message, ...(dependent === undefined ? {} : { collection: dependent.name }) }
}

/** Messages begin with the name of their field. */
function renamed(issue: Issue, from: string, to: string, rest: string): Issue {
  const { message } = issue
  const begins = message.startsWith(from) && !/^\w/.test(message.slice(from.length))
  return { ...issue, pointer: `/${to}${rest}`, message: begins ? to + message.slice(from.length) : message }
}

/** JSON of a record, or of an array of them, whose texts are then joined, with their values as an older version has them. */
export function olderJson({ lens }: Seen, json: string): string {
  if (lens.conversions.size === 0) return json
  const convert = (record: unknown) => {
    if (!isObject(record)) return record
    const made: Record<string, unknown> = { ...record }
    for (const name of lens.conversions.keys())
      if (Object.hasOwn(made, name)) made[name] = olderValue(lens, name, made[name])
    return made
  }
  // Numbers that JavaScript cannot hold stay as they are written.
  const exact = (name: string, value: unknown, context?: { source?: string }) => {
    const source = context?.source
    if (typeof value !== 'number' || source === undefined || String(value) === source) return value
    return lens.conversions.has(name) ? value : rawJson(source)
  }
  const parsed = JSON.parse(json, exact)
  const write = (record: unknown) => JSON.stringify(convert(record))
  return Array.isArray(parsed) ? parsed.map(write).join(',\n') : write(parsed)
}

// Newer than the types of the language.
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown }

const older = new WeakMap<Outcome, Outcome>()

/** What came of a plan, as the version tells it that asked. */
export function toldOutcome(catalog: Catalog, { shown }: Pick<Plan, 'shown'>, outcome: Outcome): Outcome {
  const seen = shown && seenOf(catalog, shown)
  return seen === undefined ? outcome : shownOutcome(seen, outcome)
}

/** The same where it is an older one. The same outcome gives the same again: whoever keeps answers knows them by it. */
function shownOutcome(seen: Seen, outcome: Outcome): Outcome {
  switch (outcome.kind) {
    case 'invalid':
    case 'conflict':
      return { ...outcome, issues: outcome.issues.map((issue) => shownWords(seen, shownIssue(seen, issue))) }
    case 'record': {
      if (seen.lens.conversions.size === 0) return outcome
      const known = older.get(outcome) ?? { ...outcome, json: olderJson(seen, outcome.json) }
      older.set(outcome, known)
      return known
    }
    case 'created':
      return { ...outcome, json: olderJson(seen, outcome.json) }
    case 'updated':
      return { ...outcome, json: outcome.json === undefined ? undefined : olderJson(seen, outcome.json) }
    case 'page': {
      if (seen.lens.conversions.size === 0) return outcome
      return { ...outcome, json: olderJson(seen, `[${outcome.json}]`) }
    }
    case 'replayed':
      return { ...outcome, answer: shownOutcome(seen, outcome.answer) }
    default:
      return outcome
  }
}
