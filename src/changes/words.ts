/** What differs, in a clause. */
import type { Difference } from './finding.ts'
import type { Kind } from './kinds.ts'

type Say = (difference: Difference) => string

const mostNames = 6
const mostLength = 60

/** A few of several names, and how many more. */
export function listed(names: readonly string[], most = mostNames): string {
  const shown = names.slice(0, most).map(short)
  if (names.length > most + 1) return `${shown.join(', ')} and ${names.length - most} more`
  return [names.slice(0, -1).map(short).join(', '), short(names.at(-1) ?? '')]
    .filter((each) => each !== '')
    .join(' and ')
}

function short(text: string): string {
  return clean(text, mostLength)
}

/** A text of a document as a terminal may show it: no longer than that, and without control characters. */
export function clean(text: string, most = 200): string {
  const cut = text.length > most ? `${text.slice(0, most)}…` : text
  return cut.replaceAll(/\p{C}/gu, '\ufffd')
}

function shown(value: unknown): string {
  if (value === undefined) return 'none'
  return short(typeof value === 'string' ? value : JSON.stringify(value))
}

/** `the field priority`, `the parameter status`, `the body`. */
const subject: Say = ({ field = '', within, direction }) => {
  const part = short(field.replace(/^\[\]\.?/, '') || field)
  if (within !== undefined) return `${field === '' || field === '[]' ? '' : `${part} of `}the ${short(within)}`
  if (field === '') return direction === 'request' ? 'the body of requests' : 'the body of answers'
  return `the field ${part}`
}

const side: Say = ({ within, direction, field }) => {
  if (within !== undefined || field === '') return ''
  return direction === undefined ? ' in requests and answers' : direction === 'request' ? ' in requests' : ' in answers'
}

const parameter: Say = ({ names = [], within }) => {
  const place = within === 'query' || within === undefined ? '' : `${within} `
  return names.length === 1 ? `the ${place}parameter ${listed(names)}` : `the ${place}parameters ${listed(names)}`
}
const isOrAre: Say = ({ names = [] }) => (names.length === 1 ? 'is' : 'are')
const change: Say = ({ before, after }) => `from ${shown(before)} to ${shown(after)}`
const limit: Say = ({ keyword, before, after }) =>
  `${keyword} ${before === undefined ? `${shown(after)}, none before` : `${shown(before)} → ${shown(after)}`}`
const way: Say = ({ direction }) => (direction === 'request' ? 'read' : 'answered')

const clauses: Readonly<Record<Kind, Say>> = {
  'version-removed': ({ version, names = [] }) =>
    `${version} is gone with all its endpoints; ${names.length === 0 ? 'no other version is there' : `${listed(names)} is served`}`,
  'version-retired': ({ version }) => `${version} is gone, after its sunset`,
  'version-added': ({ version }) => `${version} is new`,
  'resource-removed': ({ resources }) => `${listed(resources)} is gone, with every endpoint`,
  'resource-added': ({ resources }) => `${listed(resources)} is new`,
  'operation-removed': ({ operations }) => `${listed(operations)} ${operations.length === 1 ? 'is' : 'are'} gone`,
  'operation-added': ({ operations }) => `${listed(operations)} ${operations.length === 1 ? 'is' : 'are'} new`,
  'operation-deprecated': () => 'is deprecated',
  'security-added': (each) => `authentication is stricter, or another: ${change(each)}`,
  'security-relaxed': (each) => `authentication has another way: ${change(each)}`,
  'parameter-removed': (each) => `${parameter(each)} ${isOrAre(each)} gone`,
  'parameter-added': (each) => `${parameter(each)} ${isOrAre(each)} new, and optional`,
  'parameter-added-required': (each) => `${parameter(each)} ${isOrAre(each)} new, and required`,
  'parameter-required': (each) => `${parameter(each)} ${isOrAre(each)} required, and was optional`,
  'parameter-optional': (each) => `${parameter(each)} may be left out`,
  'parameter-written': (each) => `${parameter(each)} is written another way: ${change(each)}`,
  'body-removed': () => 'a body is no longer read',
  'body-added': () => 'a body may be sent',
  'body-added-required': () => 'a body is required, where none was read',
  'body-required': () => 'a body is required, and was optional',
  'body-optional': () => 'the body may be left out',
  'media-type-removed': (each) => `${listed(each.names ?? [])} is no longer ${way(each)}`,
  'media-type-added': (each) => `${listed(each.names ?? [])} is ${way(each)} too`,
  'status-removed': ({ names = [] }) => `the status ${listed(names)} is no longer answered`,
  'status-added': ({ names = [] }) => `the status ${listed(names)} may be answered`,
  'part-status-added': ({ names = [] }) => `the status ${listed(names)} is answered to those who ask for it`,
  'condition-required': () => 'a condition is required: without If-Match the answer is 428',
  'condition-optional': () => 'a condition is no longer required',
  'code-removed': ({ names = [] }) => `the error code ${listed(names)} is gone`,
  'code-added': ({ names = [] }) =>
    names.length === 0 ? 'any error code may be answered' : `the error code ${listed(names)} may be answered`,
  'header-removed': ({ names = [] }) => `the header ${listed(names)} is gone from answers`,
  'header-added': ({ names = [] }) => `the header ${listed(names)} is new in answers`,
  'field-removed': (each) => `${subject(each)} is gone${side(each).replace(' in ', ' from ')}`,
  'field-added': (each) => `${subject(each)} is new${side(each)}`,
  'field-added-required': (each) => `${subject(each)} is new${side(each)}, and required`,
  'field-required': (each) =>
    each.direction === 'request'
      ? `${subject(each)} is required, and was optional`
      : `${subject(each)} is always there`,
  'field-optional': (each) =>
    each.direction === 'request' ? `${subject(each)} may be left out` : `${subject(each)} may be absent from answers`,
  'field-read-only': (each) => `${subject(each)} is read-only, and could be sent`,
  'field-deprecated': (each) => `${subject(each)} is deprecated${side(each)}`,
  'type-changed': (each) => `the type of ${subject(each)} changed${side(each)} ${change(each)}`,
  'type-narrowed': (each) => `the type of ${subject(each)} is narrower${side(each)}: ${change(each)}`,
  'type-widened': (each) => `the type of ${subject(each)} is wider${side(each)}: ${change(each)}`,
  'null-added': (each) => `${subject(each)} may be null${side(each)}`,
  'null-removed': (each) => `${subject(each)} is never null${side(each)}`,
  'values-removed': (each) => `${subject(each)} no longer ${takes(each)} ${values(each)}${side(each)}`,
  'values-added': (each) => `${subject(each)} ${takes(each)} ${values(each)} too${side(each)}`,
  'values-listed': (each) => `${subject(each)} ${takes(each)} only ${values(each)}${side(each)}, and was open`,
  'values-unlisted': (each) => `${subject(each)} ${takes(each)} any value${side(each)}, and had listed ones`,
  'limit-narrowed': (each) => `${subject(each)} is narrower${side(each)}: ${limit(each)}`,
  'limit-widened': (each) => `${subject(each)} is wider${side(each)}: ${limit(each)}`,
  'format-changed': (each) => `the format of ${subject(each)} changed${side(each)} ${change(each)}`,
  'pattern-changed': (each) => `the pattern of ${subject(each)} changed${side(each)} ${change(each)}`,
  'keyword-changed': (each) => `${each.keyword} of ${subject(each)} changed${side(each)}`,
  'default-changed': (each) => `the default of ${subject(each)} changed ${change(each)}`,
  'object-closed': (each) => `${subject(each)} takes no other fields than those named`,
  'object-opened': (each) => `${subject(each)} takes other fields too`,
  'others-widened': (each) => `further fields of ${subject(each)} may have any type in answers`,
  'access-narrowed': ({ keyword, before, after }) =>
    `${keyword} is allowed to fewer callers: ${shown(before)} → ${shown(after)}`,
  'access-widened': ({ keyword, before, after }) =>
    `${keyword} is allowed to more callers: ${shown(before)} → ${shown(after)}`,
  'access-changed': ({ keyword }) => `who may ${keyword} is decided otherwise`,
  'deletion-hard': () => 'deletion is for good, and kept the data',
  'deletion-soft': () => 'deletion keeps the data',
  'grace-shortened': ({ before, after }) =>
    `a deletion can be taken back for ${shown(after)} instead of ${shown(before)}`,
  'grace-lengthened': ({ before, after }) =>
    `a deletion can be taken back for ${shown(after)} instead of ${shown(before)}`,
  'deletion-answer': ({ before, after }) =>
    before === 'empty' || after === 'summary'
      ? 'a deletion is answered with 200 and what was deleted, instead of 204'
      : 'a deletion is answered with 204 and nothing, instead of 200',
  'deletion-always-later': () => 'every deletion is answered with 202 and becomes a job',
  'deletion-sooner-later': (each) =>
    `deletions become jobs (202) sooner: above ${each.after} records, ${each.before} before`,
  'unique-added': ({ names = [] }) =>
    `${listed(names)} must be unique${names.length > 1 ? ' together' : ''} (409 DUPLICATE_VALUE)`,
  'immutable-added': (each) => `${subject(each)} is fixed once the record exists`,
  'immutable-removed': (each) => `${subject(each)} may be changed later`,
  'transitions-removed': (each) =>
    `${subject(each)} no longer changes ${listed(each.names ?? [])} (409 INVALID_TRANSITION)`,
  'transitions-added': (each) => `${subject(each)} may change ${listed(each.names ?? [])} too`,
  'reference-changed': (each) =>
    `${subject(each)} refers to ${shown(each.after)}, and referred to ${shown(each.before)}`,
  'on-delete-stricter': (each) =>
    `what ${subject(each)} refers to can no longer be deleted before it: onDelete ${change(each)}`,
  'on-delete-changed': (each) =>
    `deleting what ${subject(each)} refers to does something else: onDelete ${change(each)}`,
  'owner-changed': ({ before, after }) =>
    `the owner is kept in ${shown(after)}, and was in ${shown(before)}: callers cannot set it`,
  'search-removed': ({ names = [] }) => `q no longer searches ${listed(names)}`,
  'search-added': ({ names = [] }) => `q searches ${listed(names)} too`,
  'rule-added': ({ names = [] }) => `a business rule is new: ${listed(names)} (409)`,
  'rule-changed': ({ names = [] }) => `the business rule ${listed(names)} decides otherwise`,
  'export-limit-lowered': (each) =>
    `exports of a caller may be ${each.keyword === 'count' ? 'fewer' : 'smaller'} only: ${change(each)}${each.keyword === 'count' ? '' : ' bytes'} (409)`,
  'body-limit-lowered': (each) => `bodies may be smaller only: ${change(each)} bytes (413)`,
  'rate-lowered': (each) => `fewer requests pass (${each.keyword}): ${change(each)}`,
  'cached-longer': (each) => `answers are kept by caches for longer: ${change(each)} seconds`,
}

const takes: Say = ({ direction }) => (direction === 'request' ? 'takes' : 'has')
const values: Say = ({ names = [] }) =>
  names.length === 1 ? `the value ${listed(names)}` : `the values ${listed(names)}`

/** What differs, in a clause. */
export function messageOf(difference: Difference): string {
  return clauses[difference.kind](difference)
}
