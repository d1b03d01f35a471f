/** What tells one list from another, and one state of it from the next: its entity tag, and the key of its total. */
import { hash } from 'node:crypto'
import type { Predicate } from '../../model/predicate.ts'
import type { ReadPage } from '../../plan/plan.ts'
import { shownPredicate } from '../../plan/stored.ts'
import type { KnownClock } from './memory.ts'

/** The opaque tag of a list: the collections that it depends on, the shape of its records, what is asked for and may be seen. */
export function tagOf(plan: ReadPage, { revision, mark }: Pick<KnownClock, 'revision' | 'mark'>): string {
  const state = mark === 0 ? String(revision) : `${revision}.${mark.toString(36)}`
  const { shape } = plan.shown ?? plan.resource
  const subject = subjectOf(asAsked(plan))
  return subject === '' ? `${state}-${shape}` : `${state}-${shape}-${subject}`
}

/** An older version's clients keep their tags when a newer one calls fields something else. */
function asAsked(plan: ReadPage): ReadPage {
  const { lens } = plan.shown ?? plan.resource
  if (lens === undefined) return plan
  return { ...plan, filter: plan.asked ?? plan.filter, permitted: shownPredicate(lens, plan.permitted) }
}

/** The key under which the total of a list is known. */
export function totalKeyOf(plan: ReadPage): string {
  const { resource, parent } = plan
  return `${resource.name} ${parent?.field ?? ''} ${parent?.id ?? ''} ${subjectOf(plan)}`
}

function subjectOf({ filter, search, permitted, deleted }: ReadPage): string {
  if (search !== undefined || deleted !== undefined) {
    return `${digestOf(filter)}.${digestOf(permitted)}.${digest([search, deleted])}`
  }
  if (filter.kind === 'always' && permitted.kind === 'always') return ''
  return `${digestOf(filter)}.${digestOf(permitted)}`
}

const digests = new WeakMap<Predicate, string>()

/** The digest of a predicate; predicates are asked for again and again. */
function digestOf(predicate: Predicate): string {
  if (predicate.kind === 'always') return ''
  const known = digests.get(predicate) ?? digest(predicate)
  digests.set(predicate, known)
  return known
}

// Whoever can write filters must not find two with one digest: they would be shown the total, or told 304, of another.
function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'base64url').slice(0, 22)
}
