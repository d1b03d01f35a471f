/**
 * Checks a server: runs every case after those it depends on, cleans up, and sums up the results by rule, without the
 * credentials of callers.
 */

import { rules } from 'resourced-contract/spec/rules'
import type { Rule, RuleLevel } from 'resourced-contract/spec/rules/rule'
import { type Case, type Finding, NotSetUp, ruleOf } from '../case/case.ts'
import { placementOf, type Tier } from '../case/tiers.ts'
import { cases as allCases } from '../cases/cases.ts'
import type { Client } from '../client/client.ts'
import { alteredCredential, isOtherScheme, nameSecrets, wrongCredential } from '../client/credentials.ts'
import type { Exchange, Fields } from '../client/exchange.ts'
import { type CollectionProfile, canCreate, type Profile, profileFor } from '../profile/profile.ts'
import { newSeed, withSeed } from '../values/random.ts'
import { type Census, type Difference, reconcile, recordPaths, takeCensus } from './census.ts'
import { chooseCollections, narrowMembers } from './choose-collections.ts'
import { removeJobs, removeRecords } from './cleanup.ts'
import { type CaseRun, type RunContext, requesterFor } from './context.ts'
import { Ledger } from './ledger.ts'
import { lackingFor, type Proved } from './prove.ts'
import { createRecord, newMark, type Outcome, runCase } from './run-case.ts'

export interface CheckOptions {
  readonly profile: Profile
  readonly client: Client
  /** Header fields of the caller's credential; empty if the server needs none. */
  readonly credential: Fields
  /** The same for a second caller, without permissions. */
  readonly other?: Fields | undefined
  readonly readOnly?: boolean | undefined
  /** Demand every "should" and the specification's own choices, too. */
  readonly strict?: boolean | undefined
  /** Sections and rules, such as `DEL` and `CON-3`; all if undefined. */
  readonly only?: readonly string[] | undefined
  readonly onResult?: ((result: CaseResult, done: number, all: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
  /** All random values derive from it; a new one if undefined. */
  readonly seed?: number | undefined
  /** Notes of the trial; a new ledger if undefined. */
  readonly ledger?: Ledger | undefined
  /** What collections held before the trial. */
  readonly before?: Census | undefined
  /** Cases to choose from; all if undefined. */
  readonly cases?: readonly Case[] | undefined
}

export interface Report {
  readonly base: string
  /** When the check began, in ISO 8601. */
  readonly date: string
  readonly seconds: number
  readonly requests: number
  readonly rules: readonly RuleResult[]
  /** Number of records that were created, as responses say. */
  readonly created: number
  /** Number of records that were gone although no request deleted them by their own address. */
  readonly vanished: number
  /** Paths of records that were created and could not be deleted. */
  readonly remains: readonly string[]
  /** Paths of jobs and exports that were started and could not be deleted. */
  readonly jobs: readonly string[]
  /** Collections whose content differs from their content before the check. */
  readonly differences: readonly Difference[]
  readonly stopped: boolean
  /** Whether every "should" and the specification's own choices were demanded, too. */
  readonly strict: boolean
  readonly seed: number
}

export async function check(options: CheckOptions): Promise<Report> {
  const { profile, client, credential, other = [], signal, only } = options
  const began = performance.now()
  const date = new Date().toISOString()
  const ledger = options.ledger ?? new Ledger().watch(client)
  const credentials = {
    caller: credential,
    nobody: [],
    wrong: wrongCredential(credential),
    altered: alteredCredential(credential),
    other,
  }
  const seed = options.seed ?? newSeed()
  const run: RunContext = { client, profile, credentials, ledger, seed }
  const chosen = withDependencies(options.cases ?? allCases, only)
  const isChanging = options.readOnly !== true && chosen.some(({ kind }) => kind === 'changing')
  const before = isChanging ? (options.before ?? (await takeCensus(requesterFor(run), profile))) : undefined
  for (const path of before === undefined ? [] : recordPaths(profile, before)) ledger.foreign.add(path)
  if (isChanging && signal?.aborted !== true) {
    run.reusesIdentifiers = await withSeed(seed, 'reuse', () => findIdentifierReuse(run))
  }
  const results = (await runAll(run, chosen, options)).map(redactor({ KEY: credential, OTHER_KEY: other }))
  const differences = before === undefined ? [] : await reconcile(run, before)
  const jobs = await removeJobs(run)
  const wanted = rules.filter(({ id, section }) => only === undefined || only.includes(id) || only.includes(section))
  return {
    base: profile.base,
    date,
    seconds: Math.round((performance.now() - began) / 100) / 10,
    requests: client.count,
    rules: wanted.map((rule) => ruleResult(rule, results)),
    ...{ created: ledger.created, vanished: ledger.vanished },
    remains: [...ledger.remains],
    jobs,
    differences,
    stopped: signal?.aborted === true,
    strict: options.strict === true,
    seed,
  }
}

/** The cases of sections and rules, and the cases on which they depend. */
export function withDependencies(cases: readonly Case[], only: readonly string[] | undefined): readonly Case[] {
  if (only === undefined) return cases
  const byId = new Map(cases.map((each) => [each.id, each]))
  const chosen = new Set<Case>()
  const add = (one: Case) => {
    if (chosen.has(one)) return
    chosen.add(one)
    for (const id of one.after ?? []) add(byId.get(id) as Case)
  }
  for (const one of cases) {
    const rule = ruleOf(one)
    if (only.includes(rule) || only.includes(rule.slice(0, rule.indexOf('-')))) add(one)
  }
  return cases.filter((each) => chosen.has(each))
}

/**
 * Whether the server gives the identifier of a deleted record to the next one. If so, a record that a case has deleted
 * may become the record of another case: cases then run one at a time, and no record is deleted twice without a look
 * at it.
 */
async function findIdentifierReuse(run: RunContext): Promise<boolean> {
  const collection = run.profile.collections.find(canCreate)
  if (collection === undefined) return false
  /** The identifier of a record that is created and deleted again. */
  const identifier = async () => {
    const profile = profileFor(run.profile, collection)
    const state: CaseRun = { ...run, profile, collection, mark: newMark(), made: new Map(), exchanges: new Map() }
    try {
      await createRecord(state, 'one')
      return state.made.get('one')?.id ?? ''
    } finally {
      await removeRecords(run, [...state.made.values()].reverse())
    }
  }
  try {
    const first = await identifier()
    // Only numbers are derived from existing records.
    if (!/^\d+$/.test(first) || run.ledger.remains.size > 0) return false
    return first === (await identifier())
  } catch (error) {
    if (error instanceof NotSetUp) return false
    throw error
  }
}

const parallelCases = 4

async function runAll(run: RunContext, cases: readonly Case[], options: CheckOptions): Promise<CaseResult[]> {
  const results = new Map<string, Promise<CaseResult>>()
  const proved: Proved = new Map()
  let done = 0
  const resultOf = async (one: Case): Promise<CaseResult> => {
    const needed = await Promise.all((one.after ?? []).map((id) => results.get(id)))
    const result = await runOnCollections({ ...run, proved }, one, needed, options)
    options.onResult?.(result, ++done, cases.length)
    return result
  }
  // In their order, because a case depends on earlier ones only.
  const work = async (waiting: Iterable<Case>) => {
    for (const one of waiting) {
      const result = resultOf(one)
      results.set(one.id, result)
      await result
    }
  }
  const shared = cases.filter(({ alone = false }) => alone === false).values()
  const workers = run.reusesIdentifiers === true ? 1 : parallelCases
  await Promise.all(Array.from({ length: workers }, () => work(shared)))
  await work(cases.filter((each) => each.alone === true))
  await work(cases.filter((each) => each.alone === 'last'))
  return Promise.all(cases.map((each) => results.get(each.id) as Promise<CaseResult>))
}

/** Runs a case on the first collection that it is about. */
async function runOnCollections(
  { proved, ...run }: RunContext & { readonly proved: Proved },
  one: Case,
  needed: readonly (CaseResult | undefined)[],
  { readOnly, strict, signal, credential, other }: CheckOptions,
): Promise<CaseResult> {
  const { id, title, remedy: mend } = one
  const { tier, section = '', level: standard } = placementOf(one)
  const level = standard ?? one.level ?? rules.find((rule) => rule.id === ruleOf(one))?.level ?? 'should'
  const began = performance.now()
  const resultOf = (verdict: Verdict, why: string, more: Partial<CaseResult> = {}): CaseResult => ({
    ...{ id, title, tier, section, level, mend, verdict, why, collection: '', findings: [], exchanges: [] },
    ...{ milliseconds: Math.round(performance.now() - began), ...more },
  })
  if (signal?.aborted) return resultOf('not asked', 'the run was stopped before')
  if (readOnly === true && one.kind === 'changing') return resultOf('not asked', 'it needs requests that are not safe')
  const chosen = chooseCollections(one, run.profile, {
    hasKey: credential.length > 0,
    hasOtherScheme: isOtherScheme(credential),
    hasOther: other !== undefined,
  })
  if ('why' in chosen) return resultOf('not applicable', chosen.why)
  const missing = needed.find((each) => each !== undefined && each.verdict !== 'holds')
  if (missing?.verdict === 'not applicable') return resultOf('not applicable', missing.why)
  if (missing !== undefined) {
    return resultOf('blocked', `${missing.id}: ${missing.verdict}`, { blockedBy: missing.id })
  }
  let first: CaseResult | undefined
  for (const each of chosen.collections) {
    const collection = each.name
    const lacking = await lackingFor(one, { ...run, collection: each }, proved, { signal, readOnly })
    const outcome = lacking ?? (await runRepeatedly(run, one, each, signal))
    // The responses of a stopped case show nothing.
    if (signal?.aborted) return resultOf('not asked', 'the run was stopped meanwhile', { collection })
    if (outcome.kind === 'judged') {
      const { findings, exchanges } = outcome
      if (findings.length === 0) return resultOf('holds', '', { collection })
      return resultOf(isDemanded(level, tier, strict) ? 'fails' : 'advice', '', { collection, findings, exchanges })
    }
    first ??= resultOf(outcome.kind, outcome.why, { collection })
    if (first.verdict !== 'not applicable') return first
  }
  return first as CaseResult
}

/** The most repetitions of a case that fails because another record may have the same unique value. */
const mostRepetitions = 6

async function runRepeatedly(
  run: RunContext,
  one: Case,
  collection: CollectionProfile,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  for (let turn = 1; ; turn++) {
    const start = () => runCase(one, { ...run, collection }, newMark(), signal)
    const outcome = await withSeed(run.seed, `${one.id} ${turn}`, start)
    if (outcome.kind !== 'judged' || outcome.findings.length === 0 || turn === mostRepetitions) return outcome
    const isTaken = outcome.exchanges.some(({ asked, answer }) => asked.method === 'POST' && answer?.status === 409)
    if (!isTaken || narrowMembers(collection).length === 0 || signal?.aborted === true) return outcome
  }
}

export type Verdict =
  /** Responses showed that it holds. */
  | 'holds'
  /** Responses showed that it does not hold. */
  | 'fails'
  /** Responses showed that it does not hold, and it may be ignored. */
  | 'advice'
  /** The server has nothing that it is about, or clients cannot observe it. */
  | 'not applicable'
  /** The checker could not create the conditions that it needs. */
  | 'not set up'
  /** A case on which it depends does not hold. */
  | 'blocked'
  /** Options or a stop left it out. */
  | 'not asked'

export interface CaseResult {
  readonly id: Case['id']
  readonly title: string
  readonly tier: Tier
  /** The section of the standard that it follows from; empty if none. */
  readonly section: string
  readonly level: RuleLevel
  readonly mend: string
  readonly verdict: Verdict
  /** Why responses showed nothing; empty otherwise. */
  readonly why: string
  readonly blockedBy?: Case['id'] | undefined
  readonly collection: string
  readonly findings: readonly Finding[]
  /** All exchanges of a case that does not hold. */
  readonly exchanges: readonly Exchange[]
  readonly milliseconds: number
}

export interface RuleResult {
  readonly rule: Pick<Rule, 'id' | 'section' | 'level' | 'mark' | 'sentence'>
  readonly verdict: Verdict
  readonly why: string
  readonly cases: readonly CaseResult[]
}

/** A rule gets the first of these verdicts that one of its cases has. */
const order: readonly Verdict[] = ['fails', 'advice', 'holds', 'blocked', 'not set up', 'not asked', 'not applicable']

export function ruleResult(rule: Rule, all: readonly CaseResult[]): RuleResult {
  const { id, section, level, mark, sentence, unobservable } = rule
  const cases = all.filter((each) => ruleOf(each) === id)
  const verdict = order.find((each) => cases.some((one) => one.verdict === each)) ?? 'not applicable'
  const first = cases.find((each) => each.verdict === verdict)
  const why = first?.why ?? unobservable ?? 'clients cannot observe it'
  return { rule: { id, section, level, mark, sentence }, verdict, why, cases }
}

/** Whether a case that does not hold fails: the specification's own choices bind only who claims to follow them. */
function isDemanded(level: RuleLevel, tier: Tier, strict = false): boolean {
  return level !== 'may' && (strict || tier !== 'choices')
}

/**
 * Replaces credentials with the names of variables, anywhere in an exchange.
 *
 * @param credentials by the name of their variable
 */
export function exchangeRedactor(credentials: Readonly<Record<string, Fields>>): (exchange: Exchange) => Exchange {
  const text = nameSecrets(credentials)
  const fieldsOf = (fields: Fields) => fields.map(([name, value]) => [name, text(value)] as const)
  return (exchange) => {
    const { asked, answer } = exchange
    return {
      ...exchange,
      asked: {
        ...{ method: asked.method, url: text(asked.url), fields: fieldsOf(asked.fields) },
        ...{ body: asked.body && text(asked.body), bytes: asked.bytes && text(asked.bytes) },
      },
      answer: answer && { ...answer, fields: fieldsOf(answer.fields), body: text(answer.body) },
    }
  }
}

/**
 * Replaces credentials with the names of variables, anywhere in a result.
 *
 * @param credentials by the name of their variable
 */
export function redactor(credentials: Readonly<Record<string, Fields>>): (result: CaseResult) => CaseResult {
  const text = nameSecrets(credentials)
  const redact = exchangeRedactor(credentials)
  const redacted = new Map<Exchange, Exchange>()
  const exchangeOf = (exchange: Exchange): Exchange => {
    const known = redacted.get(exchange) ?? redact(exchange)
    // Findings and the list of exchanges share their exchanges.
    redacted.set(exchange, known)
    return known
  }
  const findingOf = (finding: Finding): Finding => ({
    ...finding,
    message: text(finding.message),
    exchange: finding.exchange && exchangeOf(finding.exchange),
  })
  return (result) => ({
    ...result,
    why: text(result.why),
    findings: result.findings.map(findingOf),
    exchanges: result.exchanges.map(exchangeOf),
  })
}
