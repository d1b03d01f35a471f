/**
 * Decides whether a record may be written. The decision has two pure halves around what the storage reads:
 * `proposeCreate` and `proposeUpdate` return the record after the change and the questions about other records, and
 * `judge` decides with the answers: references, unique values, transitions and business rules.
 */

import { conditionFields } from 'resourced-contract/model/access-rules'
import {
  type BusinessRule,
  type RuleContext,
  type RuleObjection,
  type RuleTrigger,
  ruleCodeForm,
} from 'resourced-contract/model/declaration'
import { callDeclared, FunctionFault, frozenCopy } from 'resourced-contract/model/declared-function'
import { grantOf } from 'resourced-contract/model/field-grants'
import { isObject, remembered } from 'resourced-contract/model/plain-copy'
import {
  comparisonKey,
  comparisonKeys,
  fieldsOf,
  matches,
  type Predicate,
  type Scalar,
} from 'resourced-contract/model/predicate'
import { resolveCondition } from 'resourced-contract/model/resolve-condition'
import {
  type Catalog,
  type Draft,
  type Field,
  type RecordValues,
  type Resource,
  storedResource,
} from 'resourced-contract/model/resource'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import { type CurrentRecord, checkRecord, dependsOn, type RecordAccess } from './check-record.ts'
import { draftCreate, draftUpdate } from './draft.ts'
import { namedByPatch } from './json-patch.ts'
import type { Outcome } from './outcome.ts'
import type { Create, Update, Write } from './plan.ts'
import { prepareDraft } from './prepare-draft.ts'
import { redactError, writeOnlyTexts } from './redact-error.ts'
import { serverValue } from './server-values.ts'

/** A question about other records: whether such a live record exists. */
export type Question =
  | {
      readonly kind: 'reference'
      readonly field: string
      readonly collection: string
      readonly id: string
      /** The records that count as there, because the caller may read them (AUT-5); left out: all. */
      readonly readable?: Predicate
    }
  | {
      readonly kind: 'taken'
      readonly fields: readonly string[]
      readonly keys: readonly Scalar[]
      readonly except: string
    }
  | {
      readonly kind: 'rule'
      readonly rule: BusinessRule
      readonly collection: string
      readonly where: Predicate
      /** Records of the collection that count as these, and not as they are stored. */
      readonly instead?: readonly RecordValues[]
    }

type CheckedRule = Extract<BusinessRule, { check: unknown }>

/** A record before and after: creation has no `current`, deletion no `next`. */
export interface Transition {
  readonly resource: Resource
  readonly trigger: RuleTrigger
  readonly current: RecordValues | undefined
  readonly next: RecordValues | undefined
  /** The rules that decide; left out: all. */
  readonly kind?: RuleKind | undefined
}

/** The two kinds of business rules: functions, and conditions that the database answers. */
export type RuleKind = 'check' | 'unless'

/** The record after a change, and the conditions of the change. */
export interface Proposal {
  readonly kind: 'proposal'
  readonly transition: Transition
  readonly draft: Draft
  /** The questions about other records. */
  readonly questions: readonly Question[]
  /** The permissions that must hold for the record as it would be, in the order in which they are checked (AUT-8). */
  readonly permissions: readonly Predicate[]
  /** The permissions to write single fields, which must hold for the record as it would be (AUT-14). */
  readonly fieldPermissions: readonly FieldPermission[]
}

/** The permission to write a field. */
export interface FieldPermission {
  readonly field: string
  readonly permission: Predicate
}

/** The record that a Create would make, or its outcome if that is already decided. */
export function proposeCreate(catalog: Catalog, plan: Create): Proposal | Outcome {
  const draft = draftCreate(plan)
  return 'kind' in draft ? draft : propose(catalog, plan, { draft })
}

/** The record that an Update would make, or its outcome if that is already decided. */
export function proposeUpdate(catalog: Catalog, plan: Update, current: CurrentRecord): Proposal | Outcome {
  const { found, record } = current
  const ended = checkRecord(plan, found)
  if (ended !== undefined || record === undefined) return ended ?? { kind: 'missing' }
  return proposeChange(catalog, plan, record, current)
}

/** The same of a record that the caller may change, whatever the preconditions. */
export function proposeChange(
  catalog: Catalog,
  plan: Update,
  record: RecordValues,
  access: RecordAccess,
): Proposal | Outcome {
  const drafted = draftUpdate(plan, record, access, catalog.limits)
  return drafted.kind === 'draft' ? propose(catalog, plan, { draft: drafted.draft, current: record, access }) : drafted
}

/** A change as the request makes it. */
interface Drafted {
  readonly draft: Draft
  readonly current?: RecordValues
  /** To the current record. */
  readonly access?: RecordAccess
}

function propose(
  catalog: Catalog,
  plan: Create | Update,
  { draft: drafted, current, access }: Drafted,
): Proposal | Outcome {
  const { resource, writableFields } = plan
  const { refused = [], assigned = [] } = drafted
  if (refused.length > 0) return { kind: 'forbidden', issues: refused.map(mayNotWrite) }
  const draft = resource.prepare === undefined ? drafted : prepareDraft(plan, current, drafted, access)
  const isCreate = plan.kind === 'create'
  const transition: Transition = { resource, trigger: isCreate ? 'create' : 'update', current, next: draft.values }
  const questions = [...questionsOfDraft(plan, draft), ...questionsOfRules(catalog, plan, transition)]
  const permissions = isCreate ? [plan.permitted] : permissionsAfter(plan, draft)
  const fieldPermissions = assigned.flatMap((field): FieldPermission[] => {
    const permission = grantOf(writableFields, field)
    return permission === undefined ? [] : [{ field, permission }]
  })
  // `prepare` is not called with an invalid record. The permissions cannot be decided then, and whoever may not have
  // them must not learn which records exist.
  const isUndecided = resource.prepare !== undefined && draft.issues.length > 0 && !permissions.every(isUnconditional)
  const asked = isUndecided ? nothingAsked : { questions, permissions, fieldPermissions }
  return { kind: 'proposal', transition, draft, ...asked }
}

const nothingAsked = { questions: [], permissions: [], fieldPermissions: [] }

function isUnconditional({ kind }: Predicate): boolean {
  return kind === 'always' || kind === 'never'
}

/** The issue of a field that the caller may not write. */
export function mayNotWrite(field: string): Issue {
  return issue('notYours', { field })
}

/**
 * The permissions that must hold for the record as an update makes it (AUT-8), in the order in which they are checked:
 * the `with check` of PostgreSQL's policies. A permission that the changed fields do not affect was checked with the
 * record as it is.
 */
function permissionsAfter(plan: Update, { changed }: Pick<Draft, 'changed'>): Predicate[] {
  if (changed.length === 0) return []
  const permissions: Predicate[] = []
  if (dependsOn(plan.resource, plan.permitted, [...changed, 'updated_at'])) permissions.push(plan.permitted)
  // A record may move under another one only if the caller might have created it there.
  const moves = changed.some((name) => plan.movedBy.includes(name))
  if (moves && plan.mayCreate.kind !== 'always') permissions.push(plan.mayCreate)
  return permissions
}

/** The questions about the references and unique values that a draft changes. */
function questionsOfDraft(plan: Create | Update, draft: Draft): Question[] {
  const { resource } = plan
  const questions: Question[] = []
  for (const field of resource.fields) {
    const { name, reference } = field
    const id = draft.values[name]
    if (reference === undefined || typeof id !== 'string' || !draft.changed.includes(name)) continue
    const { collection } = reference
    const readable = isChosen(plan, field, draft) ? plan.targets?.get(name) : undefined
    questions.push({ kind: 'reference', field: name, collection, id, ...(readable && { readable }) })
  }
  for (const fields of resource.unique) {
    if (!fields.some((name) => draft.changed.includes(name))) continue
    const keys = fields.map((name) => comparisonKey(resource, name, draft.values[name]))
    if (keys.some((key) => key === undefined)) continue
    questions.push({ kind: 'taken', fields, keys: keys as Scalar[], except: String(draft.values['id']) })
  }
  return questions
}

/**
 * Whether the request has chosen the value of a reference: not the address, where the caller has to read the parent,
 * not `prepare`, and not the server, which would have set the same value.
 */
function isChosen(plan: Create | Update, field: Field, { values, prepared }: Draft): boolean {
  const { resource, caller } = plan
  const { name } = field
  if (prepared?.includes(name) || (plan.kind === 'create' && plan.parent?.field === name)) return false
  if (name === resource.owner && values[name] === caller.id) return false
  const at = String(values['updated_at'])
  return values[name] !== (field.default ?? serverValue(field, field.serverDefault, { caller, at }))
}

/** The questions of the business rules. */
export function questionsOfRules(catalog: Catalog, plan: Pick<Write, 'caller'>, transition: Transition): Question[] {
  return rulesOf(plan, transition).flatMap((rule): Question[] => {
    if (!('unless' in rule)) return []
    const target = catalog.resources.get(rule.unless.none ?? rule.unless.some ?? '')
    if (target === undefined) return []
    const record = transition.next ?? transition.current
    const where = resolveCondition(target, rule.unless.where, { caller: plan.caller, record })
    return [{ kind: 'rule', rule, collection: target.name, where }]
  })
}

/** Whether there is such a record; `being-deleted`: there is, and a running deletion has deleted it or will. */
export type Answer = boolean | 'being-deleted'

/** The answers to questions, in their order. */
export type Answers = readonly (readonly [Question, Answer])[]

/** The answers with which a proposal can be written; `undefined`: a business rule asks, which only storage answers. */
export function optimisticAnswers(questions: readonly Question[]): Answers | undefined {
  if (questions.some(({ kind }) => kind === 'rule')) return undefined
  return questions.map((question) => [question, question.kind === 'reference'])
}

/** The refusal of a proposal; `undefined`: it can be written. Everything invalid comes first, then every conflict. */
export function judge(plan: Write, { transition, draft }: Proposal, answers: Answers): Outcome | undefined {
  const invalid = invalidity(draft, answers)
  if (invalid.length > 0) return { kind: 'invalid', issues: invalid }
  const conflicts = [
    ...transitionIssues(transition),
    ...answers.flatMap(([question, exists]) => beingDeletedIssues(question, exists)),
    ...answers.flatMap(([question, exists]) => takenIssues(question, exists)),
    ...ruleIssues(plan, transition, answers),
  ]
  return conflicts.length > 0 ? { kind: 'conflict', issues: conflicts } : undefined
}

/**
 * The outcome for a draft that a permission does not hold for. If the permission depends on a field that is missing,
 * invalid or refers to nothing, it could hold for no caller: then the outcome names the mistakes of the record, and
 * does not blame the caller.
 */
export function refusalOf(permission: Predicate, draft: Draft, answers: Answers): Outcome {
  const decisive = fieldsOf(permission).map((name) => `/${name}`)
  const isDecisive = ({ pointer = '' }: Issue) => decisive.includes(pointer)
  const invalid = invalidity(draft, answers)
  if (invalid.some(isDecisive)) return { kind: 'invalid', issues: invalid }
  const deleted = answers.flatMap(([question, exists]) => beingDeletedIssues(question, exists))
  return deleted.some(isDecisive) ? { kind: 'conflict', issues: deleted } : { kind: 'forbidden' }
}

function invalidity(draft: Draft, answers: Answers): Issue[] {
  return [...draft.issues, ...answers.flatMap(([question, exists]) => referenceIssue(question, exists))]
}

function beingDeletedIssues(question: Question, exists: Answer): Issue[] {
  if (question.kind !== 'reference' || exists !== 'being-deleted') return []
  return [issue('targetBeingDeleted', { field: question.field, target: question.collection })]
}

function referenceIssue(question: Question, exists: Answer): Issue[] {
  if (question.kind !== 'reference' || exists) return []
  return [issue('noTarget', { field: question.field, target: question.collection })]
}

function takenIssues(question: Question, exists: Answer): Issue[] {
  return question.kind === 'taken' && exists ? [takenIssue(question.fields)] : []
}

/** The issue of unique values that another live record has. */
export function takenIssue(fields: readonly string[]): Issue {
  const [name, ...others] = fields as [string, ...string[]]
  return issue('taken', { field: name, fields: others })
}

function transitionIssues({ resource, current, next }: Transition): Issue[] {
  if (current === undefined || next === undefined) return []
  return resource.fields.flatMap(({ name, transitions }) => {
    const from = current[name]
    const to = next[name]
    if (transitions === undefined || from === to || typeof from !== 'string') return []
    const allowed = Object.hasOwn(transitions, from) ? (transitions[from] ?? []) : []
    if (allowed.includes(String(to))) return []
    return [issue('transition', { field: name, from, to: to ?? undefined, allowed })]
  })
}

/** The objections of the business rules to a change. */
export function ruleIssues(plan: Pick<Write, 'caller' | 'now'>, transition: Transition, answers: Answers): Issue[] {
  const { resource, current, next } = transition
  const { caller, now } = plan
  return rulesOf(plan, transition).flatMap((rule): Issue[] => {
    if ('check' in rule) {
      const objection = checked(rule, { current, next, caller, now }, resource)
      return objection === undefined ? [] : [objection]
    }
    const answered = answers.find(([question]) => question.kind === 'rule' && question.rule === rule)
    const record = next ?? current ?? {}
    const holds =
      answered === undefined
        ? matches(comparisonKeys(resource, record), resolveCondition(resource, rule.unless.where, { caller, record }))
        : rule.unless.none === undefined
          ? answered[1] !== false
          : answered[1] === false
    return holds ? [] : [issue('given', { code: rule.code, message: rule.message })]
  })
}

/** The objection of a rule's function. It gets frozen copies, and its errors are logged without writeOnly values. */
function checked(
  rule: CheckedRule,
  { current, next, caller, now }: RuleContext,
  resource: Resource,
): Issue | undefined {
  const place = `resources.${resource.name}.rules[${resource.rules.indexOf(rule)}].check`
  const context = { current: frozenCopy(current), next: frozenCopy(next), caller, now }
  try {
    const answer = callDeclared(place, context, () => rule.check(context))
    // The answer may have getters, which are functions of the declaration too.
    return callDeclared(place, context, () => objectionOf(place, answer, resource))
  } catch (error) {
    throw redactError(error, [...writeOnlyTexts(resource, current), ...writeOnlyTexts(resource, next)])
  }
}

/** @throws FunctionFault if it is no objection */
function objectionOf(place: string, answer: RuleObjection | undefined, { field }: Resource): Issue | undefined {
  if (answer === undefined) return undefined
  const wrong = (what: string) => new FunctionFault(`${place} answered with ${what}.`)
  if (typeof answer !== 'object' || answer === null) throw wrong('neither undefined nor an objection')
  const { code, message, pointer } = answer
  if (typeof code !== 'string' || !ruleCodeForm.test(code))
    throw wrong('a code that is not UPPER_CASE_WITH_UNDERSCORES')
  if (typeof message !== 'string' || message.trim() === '') throw wrong('no message')
  if (pointer === undefined) return issue('given', { code, message })
  if (typeof pointer === 'string' && /^(?:\/(?:[^~]|~[01])*)?$/s.test(pointer)) {
    const name = pointer.split('/')[1] ?? ''
    return issue('given', { code, pointer, ...(field.has(name) && { field: name }), message })
  }
  throw wrong('a pointer that is no JSON Pointer')
}

/** The rules that apply to a change: unknown in `when` is not true. */
function rulesOf(
  { caller }: Pick<Write, 'caller'>,
  { resource, trigger, kind, current, next }: Transition,
): BusinessRule[] {
  const record = next ?? current ?? {}
  return resource.rules.filter((rule) => {
    if (![rule.on].flat().includes(trigger) || !(kind === undefined || kind in rule)) return false
    if (!('when' in rule) || rule.when === undefined) return true
    return matches(comparisonKeys(resource, record), resolveCondition(resource, rule.when, { caller, record }))
  })
}

/**
 * The fields with JSON of a stored resource. A JSON value may have many members, so what an update neither changes nor
 * decides by is neither read nor parsed nor validated. Functions see the whole record: nothing is left out for them.
 */
const skippableFields = remembered((resource: Resource): readonly Field[] => {
  const { fields, prepare, rules } = storedResource(resource)
  const deciding = rules.filter(({ on }) => [on].flat().includes('update'))
  const isWhole = prepare !== undefined || deciding.some((rule) => 'check' in rule)
  const compared = deciding.flatMap((rule) => ('unless' in rule ? conditionFields(rule.unless.where) : []))
  const isJson = ({ type }: Field) => type === 'array' || type === 'object' || type === 'json'
  // The full-text index has the items of some arrays beside the words of texts, and is written as a whole.
  const isSkippable = (field: Field) => isJson(field) && field.items === undefined && !compared.includes(field.name)
  return isWhole ? [] : fields.filter(isSkippable)
})

const none: ReadonlySet<string> = new Set()

/** The names of the stored fields that an update leaves out of the record that it reads. */
export function unreadFields(plan: Update): ReadonlySet<string> {
  const { resource, kind, body } = plan
  const candidates = skippableFields(resource)
  if (candidates.length === 0 || kind === 'replace') return none
  const named = kind === 'patch' ? namedByPatch(body) : new Set(isObject(body) ? Object.keys(body) : [])
  if (named === 'all') return none
  const decisive = new Set(
    [plan.permitted, plan.mayCreate, ...Object.values(plan.writableFields ?? {})].flatMap(fieldsOf),
  )
  const own = plan.versionResource?.mapping.fromStored
  const unread = candidates.filter(({ name }) => {
    const shown = own === undefined ? name : own.get(name)
    return !decisive.has(name) && (shown === undefined || !named.has(shown))
  })
  return new Set(unread.map(({ name }) => name))
}
