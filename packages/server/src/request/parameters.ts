/**
 * The parameters of a query string, those that several addresses take, and the names of fields that one lists:
 * `sort=-due_on,title`, `fields=id,title` (QRY-3, QRY-4); and the members of bodies that are no records.
 */

import { secretParameters } from 'resourced-contract/model/names'
import { candidates } from 'resourced-contract/model/nearest'
import { escapeStep } from 'resourced-contract/model/place'
import type { SortTerm } from 'resourced-contract/model/predicate'
import { type Resource, relevance, sortableNames, systemFields } from 'resourced-contract/model/resource'
import { holdsCredential, isCredential, withoutCredentials } from 'resourced-contract/model/text'
import { type Fault, fault, type Issue, issue, type Place, unknownMembers } from 'resourced-contract/spec/faults'
import { queryLimits } from 'resourced-contract/spec/limits'
import { decodeTargetPart } from '../http/message.ts'
import { pathOf, type Source } from './condition.ts'

/** A parameter, decoded. */
export interface Parameter {
  readonly name: string
  readonly value: string
  /** The place of a value that is JSON, in the body of a QUERY. */
  readonly pointer?: string
}

/** The most errors of one response to a query: a client that makes more made one mistake many times. */
const mostQueryIssues = 100

const secrets: ReadonlySet<string> = new Set(secretParameters)

/**
 * Parses a query string (`application/x-www-form-urlencoded`).
 *
 * @throws Fault MALFORMED_URL if a percent-escape is not valid UTF-8
 */
export function readParameters(query: string): Parameter[] {
  if (query === '') return []
  const parameters: Parameter[] = []
  for (const part of query.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = equals === -1 ? part : part.slice(0, equals)
    parameters.push({ name: decode(name), value: equals === -1 ? '' : decode(part.slice(equals + 1)) })
  }
  return parameters
}

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  const decoded = spaced.includes('%') ? decodeTargetPart(spaced) : spaced
  if (decoded !== undefined) return decoded
  throw fault('MALFORMED_URL', { detail: 'The query string has a percent-escape that is not valid UTF-8.' })
}

/** A text that cannot be decoded is refused later; until then it is searched as it is. */
function searched(text: string): string {
  return decodeTargetPart(text.replaceAll('+', ' ')) ?? text
}

/**
 * Refuses secrets in the query string, because they would end up in logs and histories (QRY-9).
 *
 * @throws Fault CREDENTIAL_IN_QUERY, which does not contain the secret
 */
export function refuseSecrets(query: string): void {
  if (!/token|api|pass|secret|rsk_|eyJ|%/i.test(query)) return
  const errors: Issue[] = []
  for (const part of query.split('&')) {
    if (errors.length === mostQueryIssues) break
    const [sent = ''] = part.split('=', 1)
    const name = searched(sent)
    const bare = name.replace(/\[.*$/s, '').trim().toLowerCase()
    // A credential is also recognised by its form, under any name. A name that is one is not repeated. What a cursor is
    // encoded as may contain that form by chance.
    const value = searched(part.slice(sent.length + 1)).trim()
    const isFound = bare === 'cursor' ? isCredential(value) : holdsCredential(searched(part))
    const parameter = secrets.has(bare) ? bare : isFound ? withoutCredentials(name) : undefined
    if (parameter !== undefined) errors.push(issue('credential', { parameter }))
  }
  if (errors.length > 0) throw fault('CREDENTIAL_IN_QUERY', { errors })
}

/** Refuses every parameter: this address takes none with this method. */
export function refuseParameters(parameters: readonly Parameter[]): void {
  if (parameters.length === 0) return
  throw invalidQuery(parameters.slice(0, mostQueryIssues).map(({ name }) => issue('noParameters', { parameter: name })))
}

/** The refusal of a query string, with at most 100 of its mistakes. */
export function invalidQuery(issues: readonly Issue[]): Fault {
  return fault('INVALID_QUERY', { errors: issues.slice(0, mostQueryIssues) })
}

/** A text from a request, and its place: a query parameter or a place in the body. */
export interface SourcedText {
  readonly text: string
  readonly place: Place
}

/** Splits a text at its commas. */
export function listed(text: string, place: SourcedText['place']): SourcedText[] {
  return text.split(',').map((part) => ({ text: part, place }))
}

/** Counts the items of a text with commas. */
export function countListed(text: string): number {
  let count = 1
  for (let comma = text.indexOf(','); comma !== -1; comma = text.indexOf(',', comma + 1)) count++
  return count
}

/**
 * Reads the terms of a sort, of fields of the record or of relations to one. A wrong one is left out.
 *
 * @param more what can be sorted by besides fields
 */
export function readSort(
  from: Source,
  texts: readonly SourcedText[],
  issues: Issue[],
  more: readonly string[] = [],
): SortTerm[] {
  const { resource } = from
  const possible = [...sortableNames(resource), ...more]
  const terms: SortTerm[] = []
  const seen = new Set<string>()
  for (const { text, place } of texts) {
    const descending = text.startsWith('-')
    const name = descending ? text.slice(1) : text
    const own = name === relevance.name && more.includes(name) ? relevance.field : name
    const term = possible.includes(name) ? { field: own } : relatedTerm(from, name)
    if (term === undefined) {
      issues.push(issue('unsortable', { ...place, name, resource: resource.name, known: possible }))
    } else if (seen.has(name)) {
      issues.push(issue('namesTwice', { ...place, name }))
    } else {
      terms.push({ ...term, descending })
    }
    seen.add(name)
  }
  return terms
}

/** The order by a field of a related record (WHR-2); `undefined`: there is none of this name. */
function relatedTerm(from: Source, text: string): Pick<SortTerm, 'field' | 'through'> | undefined {
  const path = pathOf(from, text, () => false)
  if (path === undefined || path.relations.length === 0 || path.relations.some(({ to }) => to === 'many'))
    return undefined
  if (!sortableNames(path.resource).includes(path.name)) return undefined
  return { field: path.name, through: path.relations.map(({ field, collection }) => ({ field, collection })) }
}

/**
 * Reads the names of the fields to return.
 *
 * @param system the fields that exist besides the declared ones
 * @returns each name once, sorted
 */
export function readFields(
  resource: Resource,
  texts: readonly SourcedText[],
  system: readonly string[],
  issues: Issue[],
): readonly string[] {
  const places = new Map(texts.map(({ text, place }) => [text, place]))
  const known = [...system, ...resource.fields.flatMap(({ name, writeOnly }) => (writeOnly ? [] : name))]
  for (const [name, place] of places) {
    if (!known.includes(name)) issues.push(issue('unanswered', { ...place, name, resource: resource.name, known }))
  }
  return [...places.keys()].sort()
}

/** Reads `fields`: the names of the fields to return; `undefined`: all fields. */
export function answeredFields(
  resource: Resource,
  text: string | undefined,
  issues: Issue[],
): readonly string[] | undefined {
  if (text === undefined || !isShortList('fields', text, issues)) return undefined
  return readFields(resource, listed(text, { parameter: 'fields' }), systemFields, issues)
}

/** Reads a parameter that is true or false; without it, it is false. */
export function readBoolean(
  parameter: string,
  text: string | undefined,
  issues: Issue[],
  allowed = ['true', 'false'],
): boolean {
  if (text !== undefined && text !== 'true' && text !== 'false') {
    issues.push(issue('enum', { code: 'INVALID_VALUE', parameter, allowed }))
  }
  return text === 'true'
}

/** Whether a list of names is within LIM-5. */
export function isShortList(name: 'sort' | 'fields', text: string, issues: Issue[], parameter: string = name): boolean {
  const most = name === 'sort' ? queryLimits.sortTerms : queryLimits.fields
  const count = countListed(text)
  if (count <= most) return true
  issues.push(issue('fieldCount', { parameter, most, given: count }))
  return false
}

/**
 * An issue for each member of an object that is none of the known ones.
 *
 * @param place the JSON Pointer of the object
 */
export function unsettableMembers(body: object, known: readonly string[], place = ''): Issue[] {
  const issueOf = (name: string) =>
    issue('unsettable', { pointer: `${place}/${escapeStep(name)}`, names: candidates(name, known) })
  return unknownMembers(body, (name) => known.includes(name), issueOf)
}

/** Reads a text that must be there; `undefined`: it is none, and the issues say so. */
export function readText(value: unknown, pointer: string, issues: Issue[]): string | undefined {
  if (typeof value === 'string') return value
  issues.push(value === undefined ? issue('required', { pointer }) : issue('type', { pointer, types: ['string'] }))
  return undefined
}

/** Reads an array of so many items; `undefined`: it is none, and the issues say so. */
export function readItems(
  value: unknown,
  pointer: string,
  { least, most }: { readonly least: 0 | 1; readonly most: number },
  issues: Issue[],
): readonly unknown[] | undefined {
  if (!Array.isArray(value)) issues.push(issue('type', { pointer, types: ['array'] }))
  else if (value.length < least) issues.push(issue('minItems', { pointer, limit: least }))
  else if (value.length > most) issues.push(issue('maxItems', { pointer, limit: most }))
  else return value
  return undefined
}
