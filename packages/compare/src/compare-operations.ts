/** Compares two operations of the same method and address: what requests may carry, and what responses do. */
import { type Pair, type Pointed, placesOf, type Role } from './compare-schemas.ts'
import type { Difference, Kind } from './finding.ts'
import type { Part } from './openapi-document.ts'
import type { Answer, Body, Operation } from './read-operations.ts'

/** The differences of two operations themselves, and the pairs of schemas to compare. */
export interface ComparedOperation {
  readonly differences: readonly Difference[]
  readonly pairs: readonly Pair[]
}

interface Holder {
  readonly schema: Part | undefined
  readonly pointer: string
}

interface Found {
  differs(kind: Kind, more?: Partial<Difference>, parts?: readonly [old: Pointed, now: Pointed]): void
  pair(old: Holder, now: Holder, about: Omit<Pair, 'old' | 'new' | 'field'>): void
}

export function compareOperations(was: Operation, is: Operation): ComparedOperation {
  const differences: Difference[] = []
  const pairs: Pair[] = []
  const schemas = ({ schema, pointer }: Holder) => [schema ?? { value: true, pointer }]
  const found: Found = {
    differs(kind, more = {}, parts = [was, is]) {
      const { version, resource, name } = was
      const places = placesOf(...parts)
      differences.push({ kind, version, resources: [resource], operations: [name], places, ...more })
    },
    pair: (old, now, about) => pairs.push({ ...about, old: schemas(old), new: schemas(now), field: '' }),
  }
  if (!was.deprecated && is.deprecated) found.differs('operation-deprecated')
  compareSecurity(was, is, found)
  compareParameters(was, is, found)
  compareRequestBodies(was.body, is.body, found)
  compareAnswers(was, is, found)
  return { differences, pairs }
}

function compareSecurity({ security: was }: Operation, { security: is }: Operation, { differs }: Found): void {
  const isEnough = (have: ReadonlySet<string>, needed: Operation['security']) =>
    needed.some((each) => each.isSubsetOf(have))
  const shown = (alternatives: Operation['security']) => alternatives.map(needsText).join(', or ')
  const change = { before: shown(was), after: shown(is) }
  if (!was.every((each) => isEnough(each, is))) differs('security-added', change)
  else if (!is.every((each) => isEnough(each, was))) differs('security-relaxed', change)
}

function needsText(needs: ReadonlySet<string>): string {
  const shortest = [...needs].filter((need) => ![...needs].some((other) => other.startsWith(`${need} with scope `)))
  return shortest.join(' and ') || 'nothing'
}

type Required = { readonly required: boolean } | undefined

/** How a parameter or a body came, went, or became required. */
function presenceChange<Name extends 'parameter' | 'body'>(name: Name, was: Required, is: Required) {
  if (is === undefined) return was && (`${name}-removed` as const)
  if (was === undefined) return is.required ? (`${name}-added-required` as const) : (`${name}-added` as const)
  if (was.required === is.required) return undefined
  return is.required ? (`${name}-required` as const) : (`${name}-optional` as const)
}

function compareParameters(was: Operation, is: Operation, { differs, pair }: Found): void {
  for (const key of new Set([...was.parameters.keys(), ...is.parameters.keys()])) {
    const [before, after] = [was.parameters.get(key), is.parameters.get(key)]
    const { name, in: place } = (before ?? after)!
    const about = { names: [name], within: place }
    const kind = presenceChange('parameter', before, after)
    if (kind !== undefined && place !== 'path') differs(kind, about, [before ?? was, after ?? is])
    if (before === undefined || after === undefined) continue
    if (before.written !== after.written) {
      differs('parameter-written', { ...about, before: before.written, after: after.written }, [before, after])
    }
    const within = `${['header', 'path', 'cookie'].includes(place) ? `${place} ` : ''}parameter ${name}`
    pair(before, after, { role: 'request', within })
  }
}

function compareRequestBodies(was: Body | undefined, is: Body | undefined, found: Found): void {
  const kind = presenceChange('body', was, is)
  if (kind !== undefined) found.differs(kind, { direction: 'request' }, [was, is])
  if (was !== undefined && is !== undefined) compareContent(was, is, { role: 'request' }, found)
}

type About = { readonly role: Role; readonly envelope?: 'list' }

function compareContent(was: Body, is: Body, about: About, { differs, pair }: Found): void {
  const direction = about.role === 'request' ? 'request' : 'response'
  for (const [type, before] of was.content) {
    const key = typeFor(type, is.content)
    if (key === undefined) {
      differs('media-type-removed', { direction, names: [type] }, [was, is])
      continue
    }
    const after = is.content.get(key)
    if (before === undefined && after === undefined) continue
    pair({ schema: before, pointer: was.pointer }, { schema: after, pointer: is.pointer }, about)
  }
  for (const type of is.content.keys()) {
    if (typeFor(type, was.content) === undefined) differs('media-type-added', { direction, names: [type] }, [was, is])
  }
}

/** The media type or range of a document that covers a type. */
function typeFor(type: string, content: Body['content']): string | undefined {
  return [type, `${type.split('/')[0]}/*`, '*/*'].find((each) => content.has(each))
}

function compareAnswers(was: Operation, is: Operation, found: Found): void {
  const { differs } = found
  const isList = was.method === 'GET' && !was.path.endsWith('}')
  const compare = (before: Answer, after: Answer, isError: boolean) => {
    compareContent(before, after, { role: isError ? 'error' : 'response', ...(isList && { envelope: 'list' }) }, found)
    compareHeaders(before, after, found)
  }
  for (const [status, before] of was.answers) {
    const after = answerFor(status, is.answers)
    if (after !== undefined) compare(before, after, /^[45]|^DEFAULT$/.test(status))
    else if (status === '428') differs('condition-optional', {}, [before, is])
    else differs('status-removed', { direction: 'response', names: [status.toLowerCase()] }, [before, is])
  }
  for (const [status, after] of is.answers) {
    // A range that holds a status of before only says the same in other words.
    const isRange = status.endsWith('XX') && [...was.answers.keys()].some((known) => known[0] === status[0])
    if (was.answers.has(status) || isRange) continue
    const before = answerFor(status, was.answers)
    if (before !== undefined) compare(before, after, /^[45]/.test(status))
    else if (status === '428') differs('condition-required', {}, [was, after])
    else {
      const kind = ['206', '304'].includes(status) ? 'part-status-added' : 'status-added'
      differs(kind, { direction: 'response', names: [status.toLowerCase()] }, [was, after])
    }
  }
}

/** What a document says about a status: by itself, by its range, or by `default`. */
function answerFor(status: string, answers: Operation['answers']): Answer | undefined {
  const range = /^\d{3}$/.test(status) ? answers.get(`${status[0]}XX`) : undefined
  return answers.get(status) ?? range ?? answers.get('DEFAULT')
}

function compareHeaders(was: Answer, is: Answer, { differs, pair }: Found): void {
  for (const key of new Set([...was.headers.keys(), ...is.headers.keys()])) {
    const [before, after] = [was.headers.get(key), is.headers.get(key)]
    const about = { direction: 'response', names: [(before ?? after)!.name] } as const
    if (after === undefined) differs('header-removed', about, [before, is])
    else if (before === undefined) differs('header-added', about, [was, after])
    else if (before.schema !== undefined && after.schema !== undefined) {
      pair(before, after, { role: 'response', within: `header ${before.name}` })
    }
  }
}
