/**
 * Writes many records in one transaction, for arrays (BLK-1, BLK-2) and imports. The questions about other records are
 * asked for all of them together. Where an answer is not the expected one, the record is decided alone, as a single
 * change is. Each record is decided on the state that those before it have made.
 */
import { comparisonKey, type Scalar } from 'resourced-contract/model/predicate'
import type { RecordValues, Resource } from 'resourced-contract/model/resource'
import type { Issue } from 'resourced-contract/spec/faults'
import type { CurrentRecord } from '../../plan/check-record.ts'
import { type Proposal, proposeCreate, proposeUpdate, type Question, takenIssue } from '../../plan/decide.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { Create, Update } from '../../plan/plan.ts'
import { type Moves, noteMove } from '../sql/batch.ts'
import type { SqlContext } from '../sql/context.ts'
import type { WordsOf } from '../sql/dialect.ts'
import { Outdated, type Transaction } from '../transaction.ts'
import { decideCreation } from './create.ts'
import { tickAll } from './rows/clock.ts'
import { findExpected, holderOf } from './rows/expected.ts'
import { numbered } from './rows/numbers.ts'
import { decide } from './rows/other-records.ts'
import { attributionOf, changeRecord, freeValue, insertRecord, tellAttribution, wordsOf } from './rows/record-row.ts'

/** A record to write, or its refusal. */
export type Item =
  /** `key`: it is created because no record had this value of a unique field. */
  | { readonly plan: Create; readonly key?: { readonly field: string; readonly value: Scalar | undefined } }
  /** `conflicts`: why it cannot be written beside other records of the request. */
  | { readonly plan: Update; readonly current: CurrentRecord; readonly conflicts?: readonly Issue[] }
  | { readonly outcome: Outcome }

/** How records are written. */
interface Writing {
  /**
   * Whether they are one request: then unique values are decided at the end, so records may exchange them, and two
   * records that end with the same value are both refused. Otherwise the later one is.
   */
  readonly areOne: boolean
  /** Called after each record, with its refusal. Returns whether the next one is tried. */
  goesOn(index: number, refusal: Outcome | undefined): boolean
}

/** How many records that are not one request are asked for together. */
const batchSize = 500

/**
 * Writes records in order. Locks are taken before, and the parent of a nested address is checked.
 */
export function* writeItems(context: SqlContext, items: Iterable<Item>, how: Writing): Transaction<void> {
  const moves: Moves = new Map()
  let first = 0
  for (const batch of batchesOf(items, how.areOne ? Number.POSITIVE_INFINITY : batchSize)) {
    const [item] = batch
    // An import has one caller; of a request it is known already.
    if (context.attribution === undefined && item !== undefined && 'plan' in item)
      yield* tellAttribution(context, attributionOf(item.plan))
    if (!(yield* writeBatch(context, { items: batch, first, moves }, how))) break
    first += batch.length
  }
  yield* tickAll(context, moves)
}

function* batchesOf<T>(items: Iterable<T>, most: number): Generator<T[]> {
  let batch: T[] = []
  for (const item of items) {
    if (batch.push(item) < most) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

interface Batch {
  readonly items: readonly Item[]
  /** The place of the first one. */
  readonly first: number
  readonly moves: Moves
}

/** @returns whether more records are tried */
function* writeBatch(context: SqlContext, { items, first, moves }: Batch, how: Writing): Transaction<boolean> {
  const proposals = items.map((item) => propose(context, item))
  const uniques = new UniqueValues(items, proposals)
  const expected = yield* findExpected(context, proposals)
  const words: Written[] = []
  let goesOn = true
  for (const [index, item] of items.entries()) {
    const proposal = proposals[index] as Proposal | Outcome
    const outcome =
      'outcome' in item
        ? item.outcome
        : yield* writeItem(context, item, { index, proposal, expected, uniques, words, moves, areOne: how.areOne })
    if (outcome === undefined || proposal.kind !== 'proposal') uniques.pass(index)
    goesOn = how.goesOn(first + index, outcome)
    if (!goesOn) break
  }
  yield* indexAll(context, words)
  return goesOn
}

function propose({ catalog }: SqlContext, item: Item): Proposal | Outcome {
  if ('outcome' in item) return item.outcome
  return 'current' in item ? proposeUpdate(catalog, item.plan, item.current) : proposeCreate(catalog, item.plan)
}

/** A record that was written, and its search words; left out: they did not change. */
interface Written {
  readonly resource: Resource
  readonly replaces: boolean
  readonly id: string
  readonly words?: string
}

/** Indexes the search words of records: no statement before searches for them. */
function* indexAll({ dialect }: SqlContext, written: readonly Written[]): Transaction<void> {
  for (const [{ name }, ofOne] of Map.groupBy(written, ({ resource }) => resource)) {
    for (const [replaces, alike] of Map.groupBy(ofOne, (each) => each.replaces)) {
      const indexed = alike.filter((each): each is Written & WordsOf => each.words !== undefined)
      if (indexed.length > 0) yield* dialect.indexWords(name, indexed, replaces)
    }
  }
}

/** A record of a batch. */
interface Turn extends Pick<Writing, 'areOne'>, Pick<Batch, 'moves'> {
  readonly index: number
  /** Receives the search words of the record. */
  readonly words: Written[]
  readonly proposal: Proposal | Outcome
  /** The questions that have the expected answer. */
  readonly expected: ReadonlySet<Question>
  readonly uniques: UniqueValues
}

/** Writes a record. Returns its refusal. */
function* writeItem(
  context: SqlContext,
  item: Exclude<Item, { readonly outcome: Outcome }>,
  turn: Turn,
): Transaction<Outcome | undefined> {
  const { plan } = item
  const { proposal, moves } = turn
  const { resource } = plan
  const shared = turn.areOne ? turn.uniques.sharedBy(turn.index) : []
  const clashes = [...('current' in item ? (item.conflicts ?? []) : []), ...shared.map(takenIssue)]
  const open = proposal.kind === 'proposal' ? yield* openQuestions(context, item, proposal, turn) : proposal
  const decided = yield* plan.kind === 'create'
    ? decideCreation(context, plan, open)
    : decideUpdate(context, plan, open)
  if (decided.kind === 'conflict') return { ...decided, issues: [...clashes, ...decided.issues] }
  if (decided.kind !== 'proposal') return decided
  if (clashes.length > 0) return { kind: 'conflict', issues: clashes }
  const { values, changed } = decided.draft
  if (plan.kind === 'create') {
    const record = yield* numbered(resource, values)
    yield* insertRecord(context, resource, record)
    turn.words.push({ resource, replaces: false, ...wordsOf(resource, record) })
    noteMove(moves, resource.name, { live: 1, deleted: 0, ids: [] })
  } else if (changed.length > 0) {
    yield* changeRecord(context, resource, { values, changed: [...changed, ...turn.uniques.freedOf(plan.id)] })
    turn.words.push({ resource, replaces: true, ...wordsOf(resource, values, changed) })
    noteMove(moves, resource.name, { live: 0, deleted: 0, ids: [plan.id] })
  }
  return undefined
}

function* decideUpdate(
  context: SqlContext,
  plan: Update,
  proposal: Proposal | Outcome,
): Transaction<Proposal | Outcome> {
  return proposal.kind === 'proposal' ? ((yield* decide(context, plan, proposal)) ?? proposal) : proposal
}

/** The proposal with the questions whose answers are not known. */
function* openQuestions(
  context: SqlContext,
  item: Exclude<Item, { readonly outcome: Outcome }>,
  proposal: Proposal,
  { index, expected, uniques, areOne }: Turn,
): Transaction<Proposal> {
  const questions: Question[] = []
  const { resource } = item.plan
  const shared = uniques.sharedBy(index)
  for (const question of proposal.questions) {
    if (question.kind === 'rule') {
      // Those that have given a value up must not be seen without it.
      questions.push({ ...question, instead: uniques.unfinished(question, resource, item.plan.id) })
      continue
    }
    const isShared = question.kind === 'taken' && shared.includes(question.fields)
    // Of one request, the clash is found already. Otherwise an earlier record may have the value by now.
    if (isShared ? areOne : expected.has(question)) continue
    if (areOne && question.kind === 'taken') {
      if (yield* isFreed(context, resource, question, uniques)) continue
      // Somebody has created the record meanwhile, so it is replaced. `prepare` may have made another value.
      const [value] = question.keys
      if ('key' in item && question.fields.join() === item.key?.field && value === item.key.value) throw new Outdated()
    }
    questions.push(question)
  }
  return { ...proposal, questions }
}

/**
 * Whether no record has a unique value now. One that the same request is going to change gives it up here: the indexes
 * of both engines compare row by row.
 */
function* isFreed(
  context: SqlContext,
  resource: Resource,
  question: Question & { readonly kind: 'taken' },
  uniques: UniqueValues,
): Transaction<boolean> {
  const holder = yield* holderOf(context, resource, question)
  if (holder === undefined) return true
  const [field = ''] = question.fields
  // Access rules must find records by the value until they have another one.
  if (resource.lookedUp.includes(field) || !uniques.free(holder, field)) return false
  yield* freeValue(context, resource, field, holder)
  return true
}

/** The unique values that the records of a batch end with, and those that they give up before. */
class UniqueValues {
  /** The records that end with a value, by their ids. */
  readonly #claims = new Map<string, Set<string>>()
  readonly #own: readonly (readonly { readonly text: string; readonly fields: readonly string[] }[])[]
  /** The records that are not changed yet, by id. */
  readonly #pending: Set<string | undefined>
  readonly #freed = new Map<string, Set<string>>()
  readonly #ids: (string | undefined)[]
  readonly #proposals: readonly (Proposal | Outcome)[]

  constructor(items: readonly Item[], proposals: readonly (Proposal | Outcome)[]) {
    this.#proposals = proposals
    this.#own = proposals.map((proposal) => (proposal.kind === 'proposal' ? valuesOf(proposal) : []))
    for (const [index, own] of this.#own.entries()) {
      const item = items[index] as Item
      if ('plan' in item) for (const { text } of own) this.#claim(text, item.plan.id)
    }
    this.#ids = items.map((item) => ('current' in item ? item.plan.id : undefined))
    this.#pending = new Set(this.#ids)
  }

  #claim(text: string, id: string): void {
    const ids = this.#claims.get(text)
    if (ids === undefined) this.#claims.set(text, new Set([id]))
    else ids.add(id)
  }

  /** The fields of the unique values that another record of the batch ends with, too. */
  sharedBy(index: number): (readonly string[])[] {
    const own = this.#own[index] ?? []
    return own.filter(({ text }) => (this.#claims.get(text)?.size ?? 0) > 1).map(({ fields }) => fields)
  }

  /** Frees the value of a record that is going to be changed. Returns whether it is. */
  free(id: string, field: string): boolean {
    if (!this.#pending.has(id)) return false
    const freed = this.#freed.get(id) ?? new Set()
    this.#freed.set(id, freed.add(field))
    return true
  }

  /** The fields of a record whose values were freed. */
  freedOf(id: string): Iterable<string> {
    return this.#freed.get(id) ?? []
  }

  /**
   * The records that have given a value up and are not changed yet, as a business rule sees them. A record that must
   * not be there is looked for among them as they will be, one that must be there as they were, as if they stood before
   * or after the record; and the record itself as it was, as in a change of it alone.
   */
  unfinished(question: Question & { readonly kind: 'rule' }, resource: Resource, own: string): RecordValues[] {
    if (question.collection !== resource.name) return []
    const willBe = 'unless' in question.rule && question.rule.unless.none !== undefined
    return [...this.#freed.keys()].flatMap((id) => {
      const proposal = this.#pending.has(id) ? this.#proposals[this.#ids.indexOf(id)] : undefined
      if (proposal?.kind !== 'proposal') return []
      const { current, next } = proposal.transition
      const seen = willBe && id !== own ? next : current
      return seen === undefined ? [] : [seen]
    })
  }

  /** Notes that a record has its values. Of one that is refused, the values that it would give up can be taken. */
  pass(index: number): void {
    this.#pending.delete(this.#ids[index])
  }
}

function valuesOf({ transition: { resource }, draft: { values } }: Proposal) {
  return resource.unique.flatMap((fields) => {
    const keys = fields.map((name) => comparisonKey(resource, name, values[name]))
    return keys.includes(undefined) ? [] : [{ fields, text: JSON.stringify([resource.name, fields, keys]) }]
  })
}
