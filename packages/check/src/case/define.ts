/** Completes cases: what a case needs of a server, and whether it changes anything, follows from its steps. */
import type { Ask, Case, Step } from './case.ts'
import { type MemberKind, memberKinds } from './members.ts'
import type { Need } from './needs.ts'

/** A case as it is written. */
export interface Draft extends Omit<Case, 'id' | 'kind' | 'needs'> {
  /** What the case needs beyond what follows from its steps. */
  readonly needs?: readonly Need[]
  /** What the case needs, if less follows than its steps seem to need. */
  readonly needsOnly?: readonly Need[]
  readonly kind?: Case['kind']
}

export function define(drafts: Readonly<Record<Case['id'], Draft>>): readonly Case[] {
  return common({}).define(drafts)
}

/** What several cases have in common, and one of them: a draft, and the steps that come before its own. */
interface SharedDraft extends Partial<Draft> {
  readonly prepare?: readonly Step[]
}

/** What several cases have unless they define it themselves. Needs are added to those of each case. */
export function common(shared: SharedDraft) {
  return {
    define: (drafts: Readonly<Record<Case['id'], SharedDraft>>): readonly Case[] =>
      Object.entries(drafts).map(([id, draft]) => {
        const { prepare = [], steps = [], ...rest } = { ...shared, ...draft }
        const needs = [...(draft.needs ?? []), ...(shared.needs ?? [])]
        return defineOne(id as Case['id'], { ...rest, steps: [...prepare, ...steps], needs } as Draft)
      }),
  }
}

export function defineOne(id: Case['id'], { needs = [], needsOnly, ...draft }: Draft): Case {
  const kind = isChanging(draft.steps) ? 'changing' : 'reading'
  return { id, kind, ...draft, needs: needsOnly ?? needsOf(draft.steps, needs) }
}

/** A case for each element of a list, whose name comes after the beginning of the identifier. */
export function defineEach<Element extends { readonly name: string }>(
  begin: `${string}-${number}/${string}`,
  list: readonly Element[],
  draftOf: (element: Element) => Draft,
): readonly Case[] {
  return list.map((each) => defineOne(`${begin}${each.name}`, draftOf(each)))
}

/** Whether steps send requests that are not safe. */
export function isChanging(steps: readonly Step[]): boolean {
  return steps.some((step) => {
    if (step.kind === 'create' || step.kind === 'outgrow') return true
    if (step.kind === 'stream' && isChanging(step.between)) return true
    if (step.kind === 'bytes') return /^(?:POST|PUT|PATCH|DELETE)\b/.test(step.bytes)
    return requestsOf(step).some(({ request }) => /^(?:POST|PUT|PATCH|CHANGE|DELETE)$/.test(request.method))
  })
}

export function requestsOf(step: Step): readonly Ask[] {
  switch (step.kind) {
    case 'ask':
      return [step]
    case 'each':
      return [step.ask]
    case 'together':
      return step.asks
    case 'walk':
    case 'stream':
      return (step.between ?? []).flatMap(requestsOf)
    case 'eventually':
      return [step.ask]
    case 'exhaust':
      return [{ kind: 'ask', as: step.as, request: step.request, isPreparation: false }]
    default:
      return []
  }
}

type NoNeed = 'distinct' | 'child' | 'created' | 'free'

/** Kinds of members that a case needs in another way, or not at all. */
function isNoNeed(kind: MemberKind): kind is NoNeed {
  return ['distinct', 'child', 'created', 'free'].includes(kind)
}

/** Needs that follow from a reference, or from a parameter, in any text of a case. */
const byText: readonly (readonly [pattern: RegExp, need: Need])[] = [
  ...memberKinds
    .filter((kind): kind is Exclude<MemberKind, NoNeed> => !isNoNeed(kind))
    .map((kind) => [new RegExp(`«(?:member|less|more):${kind}»`), kind] as const),
  [/«member:free»/, 'required'],
  [/«mine»/, 'finder'],
  [/«shown»/, 'shown'],
  [/«nested»/, 'nested'],
  [/«parents»|«parent\|/, 'parent'],
  [/«key»/, 'key'],
  [/«origin»/, 'origin'],
  [/«size»/, 'paged'],
  [/«page-size»/, 'numbered'],
  [/«document»/, 'document'],
  [/«open»/, 'open'],
  [/«retired»/, 'retired'],
  [/«deprecated»/, 'deprecated'],
  [/«version-field»/, 'version-field'],
  [/«base»\/exports/, 'exports'],
  [/«base»\/events/, 'events'],
  [/«base»\/webhooks/, 'webhooks'],
  [/"caller":"(?:wrong|altered)"/, 'key'],
  [/"caller":"other"/, 'other'],
  [/"from":"(?:some-)?change"|"plus":"change"/, 'change'],
  [/"from":"part"/, 'object'],
  [/"like":/, 'unique'],
  [/include_deleted=/, 'soft'],
  [/"«(?:collection|[^«»|]*\|path)»\/"/, 'slashless'],
  [/[?&]page=/, 'page'],
  [/[?&]offset=/, 'offset'],
  [/[?&]q=/, 'search'],
]

const recordPath = /^(?:«[^«»|]*\|path»(?:\.json|\/)?|(?:«collection»|«(?:deprecated|retired)»«path»)\/.*)$/

/** Whether a request changes a record, without a condition of its own. */
export function isUnconditionalChange({ method, to, headers = {} }: Ask['request']): boolean {
  if (!/^(?:PUT|PATCH|CHANGE|DELETE)$/.test(method) || !recordPath.test(to.split('?')[0] ?? '')) return false
  return !Object.keys(headers).some((name) => /^If-(?:Match|Unmodified-Since)$/i.test(name))
}

const byMethod: Readonly<Record<string, Need>> = {
  GET: 'read',
  HEAD: 'read',
  OPTIONS: 'read',
  PUT: 'replace',
  PATCH: 'update',
  CHANGE: 'changing',
  DELETE: 'delete',
}

function needsOf(steps: readonly Step[], declared: readonly Need[]): readonly Need[] {
  const text = JSON.stringify(steps)
  const needs = new Set<Need>(declared)
  for (const [pattern, need] of byText) if (pattern.test(text)) needs.add(need)
  if (/[?&]limit=\d/.test(text) && !needs.has('offset')) needs.add('cursor')
  for (const step of steps) {
    if (step.kind === 'create' || step.kind === 'outgrow') needs.add('create')
    if (step.kind === 'outgrow') needs.add('list')
    if (step.kind === 'walk') needs.add('list').add('cursor')
    if (step.kind === 'bytes' && /^\w+ «collection» /.test(step.bytes)) {
      needs.add(step.bytes.startsWith('POST') ? 'create' : 'list')
    }
    for (const { request } of requestsOf(step)) {
      for (const need of needsOfRequest(request)) needs.add(need)
      // The condition of a request depends on what was sent before it, not on what is sent at the same time.
      if (step.kind === 'together' && isUnconditionalChange(request)) needs.add('unconditional')
    }
  }
  // Either the case is about collections that delete for good, or it needs the opposite.
  if (needs.has('hard')) needs.delete('soft')
  return [...needs]
}

function needsOfRequest({ method, to }: Ask['request']): readonly Need[] {
  const [path = ''] = to.split('?')
  if (/^(?:«collection»(?:\.json|\/)?|«(?:deprecated|retired)»«path»|«nested»)$/.test(path)) {
    if (method === 'POST') return path === '«collection»' ? ['create'] : []
    if (method === 'DELETE') return ['delete-by-filter', 'marker']
    return method === 'PUT' || method === 'PATCH' ? [] : ['list']
  }
  if (path === '«collection»/bulk-delete') return ['bulk-delete']
  if (/^«[^«»|]*\|path»\/restore$|^«collection»\/.*\/restore$/.test(path)) return ['restore']
  if (!recordPath.test(path)) return []
  const need = byMethod[method]
  return need === undefined ? [] : [need]
}
