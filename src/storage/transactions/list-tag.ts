/** What tells one list from another, and one state of it from the next: its entity tag, and the key of its total. */
import { createHmac, hash } from 'node:crypto'
import type { Predicate } from '../../model/predicate.ts'
import { admitPage } from '../../plan/admit.ts'
import type { Outcome, PageOutcome, ReadPage } from '../../plan/plan.ts'
import type { SqlContext } from '../sql/context.ts'
import type { KnownClock } from './rows/clock.ts'
import { searchedTexts } from './searched-texts.ts'

/** A list, and the tag that it had last. */
export interface TaggedList {
  readonly plan: ReadPage
  /** With the state of the clocks that it was made at. */
  tagged?: { readonly state: string; readonly tag: string }
}

/**
 * The opaque tag of a list for a caller who may read all of its collection: made of the collection's clock, so that it costs no
 * reading. It is keyed, so that nobody can count the changes.
 *
 * @returns `undefined` where the caller may not read everything: the tag then depends on what they are shown alone (AUT-9)
 */
function clockTag({ tagSecret }: SqlContext, listing: TaggedList, clock: ListClock): string | undefined {
  const { plan } = listing
  if (plan.permitted.kind !== 'always' || plan.deleted !== undefined) return undefined
  if (tagSecret === undefined) throw new Error('Pages cannot be read without the secret of their tags.')
  const state = stateOf(clock)
  if (listing.tagged?.state !== state) {
    const { name, shape } = plan.versionResource ?? plan.resource
    const text = `${name} ${state} ${shape} ${subjectOf(asAsked(plan))}`
    listing.tagged = { state, tag: createHmac('sha256', tagSecret).update(text).digest('base64url').slice(0, 22) }
  }
  return listing.tagged.tag
}

/**
 * The tag of a list, where it is known before the page is read: it is made of the clock, or the page was read before and no
 * collection has changed since on which it depends. Deleted records depend on the time of day too, which the clock does not see.
 */
export function knownTag(context: SqlContext, listing: TaggedList, clock: ListClock): string | undefined {
  const made = clockTag(context, listing, clock)
  if (made !== undefined || listing.plan.deleted !== undefined) return made
  return listing.tagged?.state === stateOf(clock) ? listing.tagged.tag : undefined
}

/**
 * A page with its tag, or what its conditions make of it.
 *
 * @param known its tag, where the conditions were decided by it already
 */
export function answerPage(
  plan: ReadPage,
  listing: TaggedList,
  clock: ListClock,
  known: string | undefined,
  page: Omit<PageOutcome, 'kind' | 'tag'>,
): Outcome {
  if (known !== undefined) return { kind: 'page', tag: known, ...page }
  const tag = pageTag(listing, clock, page)
  return admitPage(plan, tag) ?? { kind: 'page', tag, ...page }
}

/** The opaque tag of a page, made of what the caller is shown. It is kept with the list. */
function pageTag(listing: TaggedList, clock: ListClock, page: Omit<PageOutcome, 'kind' | 'tag'>): string {
  const { shape } = listing.plan.versionResource ?? listing.plan.resource
  const { json, total, previous, next } = page
  const tag = hash('sha256', `${JSON.stringify([shape, total, previous, next])}\n${json}`, 'base64url').slice(0, 22)
  listing.tagged = { state: stateOf(clock), tag }
  return tag
}

/** The clocks of the collections that a list depends on. */
type ListClock = Pick<KnownClock, 'revision' | 'mark'>

function stateOf({ revision, mark }: ListClock): string {
  return mark === 0 ? String(revision) : `${revision}.${mark.toString(36)}`
}

/** An older version's clients keep their tags when a newer one calls fields something else. */
function asAsked(plan: ReadPage): ReadPage {
  return plan.versionFilter === undefined ? plan : { ...plan, filter: plan.versionFilter }
}

/** The key under which the total of a list is known. */
export function totalKeyOf(plan: ReadPage): string {
  const { resource, parent } = plan
  return `${resource.name} ${parent?.field ?? ''} ${parent?.id ?? ''} ${subjectOf(plan)}`
}

function subjectOf(plan: ReadPage): string {
  const { filter, search, permitted, deleted } = plan
  if (search !== undefined || deleted !== undefined) {
    return `${digestOf(filter)}.${digestOf(permitted)}.${digest([search, searchedTexts(plan), deleted])}`
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
