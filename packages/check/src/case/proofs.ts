/**
 * Proofs: what a server must have shown before cases that need it are judged. A request that a case expects to be
 * refused shows something only if the same request without its fault succeeds.
 */
import type { CollectionProfile } from '../profile/profile.ts'
import { smallestPage } from '../profile/query-style.ts'
import { type JsonObject, objectOf } from '../values/json.ts'
import { type Case, type Expectation, NotApplicable, NotSetUp } from './case.ts'
import { itemsOf, short } from './expect.ts'
import { listed } from './expect-records.ts'
import { list, one, patch, put, read } from './names.ts'
import type { Need } from './needs.ts'
import { collection, idMember, listWithCase, members, paging, Reference } from './references.ts'
import { asNobody, body, create } from './steps.ts'

/** Shows whether a collection has what cases need: `expect` throws if it does not. */
type Proof = Pick<Case, 'steps' | 'expect'>

const [up, down, part] = Reference.named('up', 'down', 'part')

/** The method is supported, and the request succeeds. A failure of the server says neither: the cases judge it. */
function works(step: Reference, what: string): Expectation {
  return (seen) => {
    const { answer } = seen.of(step)
    if (answer === undefined || answer.status < 300) return undefined
    const { status } = answer
    const where = `for ${seen.collection.name}`
    if ([404, 405, 501].includes(status)) throw new NotApplicable(`${what} is not supported ${where}: ${status}`)
    // A 428 demands a condition, and so shows that the method is supported.
    if (status >= 500 || status === 428) return undefined
    throw new NotSetUp(`${what} without a fault was refused ${where}: ${status} ${short(answer.body)}`.trim())
  }
}

/** A list is where the profile says: nothing can be said of lists that are not found. */
const hasItems: Expectation = (seen) => {
  const { answer } = seen.of(list)
  if (answer?.status !== 200 || itemsOf(answer, seen) !== undefined) return undefined
  throw new NotSetUp(`the list of ${seen.collection.name} has no array at ${seen.profile.names.items || 'its root'}`)
}

/** Two lists differ in what a parameter is about. Other records may come and go between the two requests. */
function differ(step: Reference, other: Reference, isOther: typeof hasOtherOrder, parameter: string): Expectation {
  return (seen) => {
    const [found, compared] = [step, other].map((each) => {
      const { answer } = seen.of(each)
      return answer?.status === 200 ? itemsOf(answer, seen)?.map(objectOf) : undefined
    })
    const { id } = seen.collection
    if (found === undefined || compared === undefined || !isOther(found, compared, id)) {
      const { answer } = seen.of(step)
      const isRefused = answer !== undefined && answer.status >= 400
      const effect = isRefused ? `is refused with ${answer.status}` : 'has no effect'
      throw new NotApplicable(`the parameter ${parameter} ${effect}`)
    }
    return undefined
  }
}

/** The records that both lists show are in another order, or most records of the lists are on different pages. */
function hasOtherOrder(found: readonly JsonObject[], compared: readonly JsonObject[], id: string): boolean {
  // The records of some servers have no identifier in them, only links.
  const textOf = (item: JsonObject) => String(item[id] ?? JSON.stringify(item))
  const [one, next] = [found, compared].map((items) => items.map(textOf)) as [string[], string[]]
  const common = one.filter((each) => next.includes(each))
  if (2 * common.length < one.length) return next.length > 0
  return common.join() !== next.filter((each) => one.includes(each)).join()
}

/** The records have fewer members. A server that takes an unknown parameter for a filter shows no records. */
function hasFewerMembers(found: readonly JsonObject[], compared: readonly JsonObject[]): boolean {
  const [few, all] = [found, compared].map((items) => new Set(items.flatMap(Object.keys)).size) as [number, number]
  return found.length > 0 && few < all
}

/** A new record is in the list. The lists of some servers have it on their last page. */
const showsOwn: Expectation = (seen) => {
  if (seen.ids(one).every((id) => listed(seen.of(list).answer, seen, id) !== undefined)) return undefined
  throw new NotApplicable(`a new record of ${seen.collection.name} is not on the first page of their list`)
}

/**
 * The smallest page has exactly as many records as it should. A list that is no longer shows nothing. A page that is
 * only shorter than the list shows nothing either, because other cases create and delete records meanwhile.
 */
function isSizeFollowed(parameter: string, sizeIn: (it: CollectionProfile) => number): Expectation {
  return (seen) => {
    const size = sizeIn(seen.collection)
    const [whole, smaller] = [list, part].map((step) => {
      const { answer } = seen.of(step)
      return answer?.status === 200 ? itemsOf(answer, seen)?.length : undefined
    })
    if (whole === undefined || smaller === undefined || whole <= size || smaller === size) return undefined
    throw new NotApplicable(`the parameter ${seen.fill(parameter)} has no effect`)
  }
}

export const proofs: Partial<Readonly<Record<Need, Proof>>> = {
  create: { steps: [create(one)], expect: [] },
  list: { steps: [list.get(collection)], expect: [works(list, 'GET of a list'), hasItems] },
  replace: { steps: [create(one), put.put(one, body.sentBy(one))], expect: [works(put, 'PUT')] },
  update: { steps: [create(one), patch.patch(one, body.change)], expect: [works(patch, 'PATCH')] },
  changing: { steps: [create(one), patch.change(one)], expect: [works(patch, 'A change')] },
  sorted: {
    steps: [
      create(one),
      create(read),
      up.get(`${collection}?sort=${members.sort}`),
      down.get(`${collection}?sort=-${members.sort}`),
    ],
    expect: [differ(up, down, hasOtherOrder, 'sort')],
  },
  fields: {
    steps: [create(one), list.get(collection), part.get(`${collection}?fields=${idMember}`)],
    expect: [differ(part, list, hasFewerMembers, 'fields')],
  },
  shown: { steps: [create(one), list.get(listWithCase)], expect: [works(list, 'GET of a list'), hasItems, showsOwn] },
  paged: {
    steps: [list.get(collection), part.get(`${collection}?${paging.size}=${paging.smallest}`)],
    expect: [works(list, 'GET of a list'), hasItems, isSizeFollowed(paging.size, smallestPage)],
  },
  numbered: {
    steps: [list.get(collection), part.get(`${collection}?page=1&${paging.perPage}=1`)],
    expect: [works(list, 'GET of a list'), hasItems, isSizeFollowed(paging.perPage, () => 1)],
  },
  protected: {
    steps: [list.get(collection, asNobody)],
    expect: [
      ({ of }) => {
        const { answer } = of(list)
        if ((answer?.status ?? 0) < 400) throw new NotApplicable('lists are read without a credential')
        return undefined
      },
    ],
  },
}

/**
 * What a collection has to prove before a case is judged. A case that creates a record proves itself that it can. Where
 * nothing else has to be proved, a list has to be answered: a server that refuses everything shows nothing.
 */
export function toProve(
  { kind, needs, steps }: Pick<Case, 'kind' | 'needs' | 'steps'>,
  { operations }: CollectionProfile,
): readonly Need[] {
  const isCreating = steps.some((step) => step.kind === 'create' || step.kind === 'outgrow')
  const wanted = needs.filter(
    (need) => proofs[need] !== undefined && !(need === 'create' && (isCreating || kind === 'reading')),
  )
  return wanted.length > 0 || isCreating || !operations.includes('list') ? wanted : ['list']
}
