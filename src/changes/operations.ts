/** Two operations of one address and method: what requests may bring, and what is answered. */
import type { Difference, Place } from './finding.ts'
import type { Kind } from './kinds.ts'
import type { Part } from './openapi/document.ts'
import type { Answer, Operation, Parameter } from './openapi/operations.ts'
import type { Pair, Way } from './schemas/pair.ts'
import type { Schemas } from './schemas/shape.ts'

/** What two operations differ in themselves, and the schemas to compare. */
export interface ComparedOperation {
  readonly differences: readonly Difference[]
  readonly pairs: readonly Pair[]
}

/** Compares two operations. */
export function compareOperations(was: Operation, is: Operation): ComparedOperation {
  const differences: Difference[] = []
  const pairs: Pair[] = []
  const differs: Differs = (kind, more = {}, parts = [was, is]) => {
    const places = placesOf(parts[0]?.pointer, parts[1]?.pointer)
    const { version, resource, name } = was
    differences.push({ kind, version, resources: [resource], operations: [name], places, ...more })
  }
  if (!was.deprecated && is.deprecated) differs('operation-deprecated')
  compareSecurity(was, is, differs)
  compareParameters(was, is, differs, pairs)
  compareBodies(was, is, differs, pairs)
  compareAnswers(was, is, differs, pairs)
  return { differences, pairs }
}

type Pointed = { readonly pointer: string } | undefined
type Differs = (kind: Kind, more?: Partial<Difference>, parts?: readonly [Pointed, Pointed]) => void

/** The places of what is in one or both of two documents. */
export function placesOf(was: string | undefined, is: string | undefined): Place[] {
  return [
    ...(was === undefined ? [] : [{ in: 'old', of: 'openapi', pointer: was } as const]),
    ...(is === undefined ? [] : [{ in: 'new', of: 'openapi', pointer: is } as const]),
  ]
}

const schemas = (part: Part | undefined, pointer: string): Schemas => [part ?? { value: true, pointer }]

function compareSecurity(was: Operation, is: Operation, differs: Differs): void {
  const enough = (have: ReadonlySet<string>, needed: Operation['security']) =>
    needed.some((each) => each.isSubsetOf(have))
  const lost = was.security.filter((each) => !enough(each, is.security))
  const shown = (sets: Operation['security']) => sets.map(needs).join(', or ')
  const change = { before: shown(was.security), after: shown(is.security) }
  if (lost.length > 0) differs('security-added', change)
  else if (is.security.some((each) => !enough(each, was.security))) differs('security-relaxed', change)
}

function needs(all: ReadonlySet<string>): string {
  const shortest = [...all].filter((need) => ![...all].some((other) => other.startsWith(`${need} with scope `)))
  return shortest.join(' and ') || 'nothing'
}

function compareParameters(was: Operation, is: Operation, differs: Differs, pairs: Pair[]): void {
  for (const [key, before] of was.parameters) {
    const after = is.parameters.get(key)
    if (after === undefined) {
      if (before.in !== 'path') differs('parameter-removed', named(before), [before, is])
      continue
    }
    const parts = [before, after] as const
    if (before.required !== after.required) {
      differs(after.required ? 'parameter-required' : 'parameter-optional', named(before), parts)
    }
    if (before.written !== after.written) {
      differs('parameter-written', { ...named(before), before: before.written, after: after.written }, parts)
    }
    pairs.push({
      old: schemas(before.schema, before.pointer),
      new: schemas(after.schema, after.pointer),
      way: 'request',
      field: '',
      within: `${places[before.in] ?? ''}parameter ${before.name}`,
    })
  }
  for (const [key, after] of is.parameters) {
    if (was.parameters.has(key) || after.in === 'path') continue
    differs(after.required ? 'parameter-added-required' : 'parameter-added', named(after), [was, after])
  }
}

const places: Readonly<Record<string, string>> = { header: 'header ', path: 'path ', cookie: 'cookie ' }

function named({ name, in: place }: Parameter): Pick<Difference, 'names' | 'within'> {
  return { names: [name], within: place }
}

function compareBodies({ body: was }: Operation, { body: is }: Operation, differs: Differs, pairs: Pair[]): void {
  const request = { direction: 'request' } as const
  if (was === undefined || is === undefined) {
    if (was !== undefined) differs('body-removed', request, [was, undefined])
    if (is !== undefined) differs(is.required ? 'body-added-required' : 'body-added', request, [undefined, is])
    return
  }
  if (was.required !== is.required) differs(is.required ? 'body-required' : 'body-optional', request, [was, is])
  compareContent(was, is, 'request', { differs, pairs })
}

interface Found {
  readonly differs: Differs
  readonly pairs: Pair[]
  readonly list?: boolean
}

function compareContent(
  was: Pick<Answer, 'content' | 'pointer'>,
  is: Pick<Answer, 'content' | 'pointer'>,
  way: Way,
  { differs, pairs, list = false }: Found,
): void {
  const direction = way === 'request' ? 'request' : 'response'
  // Where nothing is said of a body, nothing is known of it.
  for (const [type, before] of was.content) {
    const key = typeFor(type, is.content)
    if (key === undefined) {
      differs('media-type-removed', { direction, names: [type] }, [was, is])
      continue
    }
    const after = is.content.get(key)
    if (before === undefined && after === undefined) continue
    const envelope = list ? ({ envelope: 'list' } as const) : {}
    pairs.push({ old: schemas(before, was.pointer), new: schemas(after, is.pointer), way, field: '', ...envelope })
  }
  for (const type of is.content.keys()) {
    if (typeFor(type, was.content) === undefined) differs('media-type-added', { direction, names: [type] }, [was, is])
  }
}

/** The media type or range that speaks of a type. */
function typeFor(type: string, content: Answer['content']): string | undefined {
  return [type, `${type.split('/')[0]}/*`, '*/*'].find((each) => content.has(each))
}

function compareAnswers(was: Operation, is: Operation, differs: Differs, pairs: Pair[]): void {
  const list = was.method === 'GET' && !was.path.endsWith('}')
  for (const [status, before] of was.answers) {
    const after = answerFor(status, is.answers)
    if (after === undefined) {
      if (status === '428') differs('condition-optional', {}, [before, is])
      else differs('status-removed', { direction: 'response', names: [status.toLowerCase()] }, [before, is])
    } else compareAnswer(before, after, { differs, pairs, list, error: /^[45]|^DEFAULT$/.test(status) })
  }
  for (const [status, after] of is.answers) {
    if (was.answers.has(status) || speaksOf(status, was.answers)) continue
    const before = answerFor(status, was.answers)
    if (before !== undefined) compareAnswer(before, after, { differs, pairs, list, error: /^[45]/.test(status) })
    else if (status === '428') differs('condition-required', {}, [was, after])
    else {
      const kind = ['206', '304'].includes(status) ? 'part-status-added' : 'status-added'
      differs(kind, { direction: 'response', names: [status.toLowerCase()] }, [was, after])
    }
  }
}

/** Whether a range holds a status that was answered: then only the words are wider. */
function speaksOf(range: string, answers: Operation['answers']): boolean {
  return range.endsWith('XX') && [...answers.keys()].some((status) => status[0] === range[0])
}

/** What a document says of a status: by itself, by its range, or by `default`. */
function answerFor(status: string, answers: Operation['answers']): Answer | undefined {
  const range = /^\d{3}$/.test(status) ? answers.get(`${status[0]}XX`) : undefined
  return answers.get(status) ?? range ?? answers.get('DEFAULT')
}

function compareAnswer(was: Answer, is: Answer, { error, ...found }: Found & { readonly error: boolean }): void {
  const { differs, pairs } = found
  compareContent(was, is, error ? 'error' : 'response', found)
  for (const [key, before] of was.headers) {
    const after = is.headers.get(key)
    const direction = 'response'
    if (after === undefined) differs('header-removed', { direction, names: [before.name] }, [before, is])
    else if (before.schema !== undefined && after.schema !== undefined) {
      const within = `header ${before.name}`
      pairs.push({ old: [before.schema], new: [after.schema], way: 'response', field: '', within })
    }
  }
  for (const [key, after] of is.headers) {
    if (!was.headers.has(key)) differs('header-added', { direction: 'response', names: [after.name] }, [was, after])
  }
}
