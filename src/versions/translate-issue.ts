/** What is wrong with a request of an older version, in the names of what is stored and back (VER-2). */
import type { VersionMapping } from '../model/resource.ts'
import type { Issue } from '../spec/faults.ts'

// No field name contains it. It marks the pointers of fields that only the older version has.
const mark = '@'

/** An issue with the names of stored fields, like all other issues until they are answered. */
export function issueToStored({ toStored }: VersionMapping, issue: Issue): Issue {
  if (!issue.pointer) return issue
  const { name, rest } = splitPointer(issue.pointer)
  const field = toStored.get(name)
  if (field === name) return issue
  return field === undefined ? { ...issue, pointer: `/${name}${mark}${rest}` } : renamed(issue, name, field, rest)
}

/** An issue with the names that the version's clients use, in its pointer and in its message. */
export function issueFromStored(mapping: VersionMapping, issue: Issue): Issue {
  return withVersionWords(mapping, withVersionPointer(mapping, issue))
}

function withVersionPointer({ fromStored, stored }: VersionMapping, issue: Issue): Issue {
  if (!issue.pointer) return issue
  const { name, rest } = splitPointer(issue.pointer)
  if (name.endsWith(mark)) return { ...issue, pointer: `/${name.slice(0, -mark.length)}${rest}` }
  if (!stored.field.has(name)) return issue
  const own = fromStored.get(name)
  if (own === name) return issue
  // The client does not have this field: the whole body is the place.
  return own === undefined ? { ...issue, pointer: '' } : renamed(issue, name, own, rest)
}

/** The first step of a pointer, and what follows it. */
function splitPointer(pointer: string): { readonly name: string; readonly rest: string } {
  const [, name = '', rest = ''] = /^\/([^/]*)(.*)$/s.exec(pointer) ?? []
  return { name, rest }
}

/** Renames what a message names: values of a transition, collections, and fields that are unique together. */
function withVersionWords(
  { conversions, toStored, fromStored, stored, collections }: VersionMapping,
  issue: Issue,
): Issue {
  let { message } = issue
  const name = issue.pointer?.slice(1) ?? ''
  const conversion = conversions.get(name)
  const values = stored.field.get(toStored.get(name) ?? '')?.enum
  if (issue.code === 'INVALID_TRANSITION' && conversion !== undefined && values !== undefined) {
    message = message.replaceAll(/[^\s:,.]+/g, (word) =>
      values.includes(word) ? String(conversion.older(word)) : word,
    )
  }
  if (issue.code === 'DUPLICATE_VALUE' || issue.code === 'TOO_LONG' || issue.code === 'TEXT_TOO_LONG') {
    message = message.replace(/ together with .* (?:is taken|has \d)/, (part) =>
      part.replaceAll(/\w+/g, (word) => fromStored.get(word) ?? word),
    )
  }
  const { collection = '' } = issue as { collection?: string }
  const dependent = collections.get(collection)
  if (dependent !== undefined) {
    message = message.replace(/ by (\w+);/, (_words, field) => ` by ${dependent.fields.get(field) ?? field};`)
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
