/** Runs all cases on a server, each when those that it needs have held. */

import { randomBytes } from 'node:crypto'
import { rules } from '../../spec/rules.ts'
import { type Case, ruleOf } from '../case/case.ts'
import { cases as allCases } from '../cases/cases.ts'
import type { Client } from '../client/client.ts'
import { wrongCredential } from '../client/credentials.ts'
import type { Fields } from '../client/exchange.ts'
import type { CollectionProfile, Profile } from '../profile/profile.ts'
import { type Census, takeCensus } from './census.ts'
import { chooseCollections, hasFewValues } from './choose-collections.ts'
import type { World } from './context.ts'
import { reusesIdentifiers } from './identifier-reuse.ts'
import { Ledger } from './ledger.ts'
import { type Difference, pathsOf, reconcile, removeJobs } from './reconcile.ts'
import { redactor } from './redact.ts'
import { runCase, type Shown } from './run-case.ts'
import { broken, type CaseResult, type RuleResult, ruleResult, type Verdict } from './verdict.ts'

/** What is to be checked, and how. */
export interface CheckOptions {
  readonly profile: Profile
  readonly client: Client
  /** Fields that go along with every request; none where the server asks for none. */
  readonly credential: Fields
  /** The same of somebody who may do nothing. */
  readonly other?: Fields | undefined
  /** Only safe requests. */
  readonly readOnly?: boolean | undefined
  /** Sections and rules: `DEL`, `CON-3`; all where left out. */
  readonly only?: readonly string[] | undefined
  /** Told of every case. */
  readonly onResult?: ((result: CaseResult, done: number, all: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
  /** What discovery has noted, and what collections held before it; begun anew unless given. */
  readonly ledger?: Ledger | undefined
  readonly before?: Census | undefined
  /** In place of all cases. */
  readonly cases?: readonly Case[] | undefined
}

/** What was found out. */
export interface Report {
  readonly base: string
  /** When it began, ISO 8601. */
  readonly date: string
  readonly seconds: number
  readonly requests: number
  readonly rules: readonly RuleResult[]
  /** How many records were created, as far as answers say so. */
  readonly created: number
  /** What was created and could not be deleted: paths. */
  readonly remains: readonly string[]
  /** Jobs and exports that were begun and could not be deleted: paths. */
  readonly jobs: readonly string[]
  /** Collections that hold something else than before. */
  readonly differences: readonly Difference[]
  /** Whether it was stopped before its end. */
  readonly stopped: boolean
}

const together = 4

/** Checks a server. */
export async function check(options: CheckOptions): Promise<Report> {
  const { profile, client, credential, signal } = options
  const began = performance.now()
  const date = new Date().toISOString()
  const credentials = {
    caller: credential,
    nobody: [],
    wrong: wrongCredential(credential),
    other: options.other ?? [],
  }
  const ledger = options.ledger ?? watchedBy(client)
  const world: World = { client, profile, credentials, ledger }
  const mask = redactor({ KEY: credential, OTHER_KEY: options.other ?? [] })
  const chosen = withNeeded(options.cases ?? allCases, options.only)
  const changes = options.readOnly !== true && chosen.some(({ kind }) => kind === 'changing')
  const before = changes ? (options.before ?? (await takeCensus(world))) : undefined
  for (const path of before === undefined ? [] : pathsOf(profile, before)) ledger.foreign.add(path)
  if (changes && signal?.aborted !== true) {
    world.reusesIdentifiers = await reusesIdentifiers(world)
  }
  const results = (await runAll(world, chosen, options)).map(mask)
  // Another round: what could not go before, because something hung on it.
  const differences = before === undefined ? [] : await reconcile(world, before)
  const jobs = await removeJobs(world)
  return {
    base: profile.base,
    date,
    seconds: Math.round((performance.now() - began) / 100) / 10,
    requests: client.count,
    rules: rules
      .filter(
        ({ id, section }) => options.only === undefined || options.only.some((each) => each === id || each === section),
      )
      .map((rule) => ruleResult(rule, results)),
    created: ledger.created,
    remains: [...ledger.remains],
    jobs,
    differences,
    stopped: signal?.aborted === true,
  }
}

/** A ledger of all that a client sends from now on. */
export function watchedBy(client: Client): Ledger {
  const ledger = new Ledger()
  client.watch((exchange) => ledger.note(exchange))
  return ledger
}

/** The cases that are asked for, and those without which they prove nothing. */
export function withNeeded(cases: readonly Case[], only: readonly string[] | undefined): Case[] {
  if (only === undefined) return [...cases]
  const byId = new Map(cases.map((each) => [each.id, each]))
  const chosen = new Set<Case>()
  const add = (one: Case) => {
    if (chosen.has(one)) return
    chosen.add(one)
    for (const id of one.after ?? []) add(byId.get(id) as Case)
  }
  for (const one of cases) {
    const rule = ruleOf(one)
    if (only.some((each) => each === rule || each === rule.slice(0, rule.indexOf('-')))) add(one)
  }
  return cases.filter((each) => chosen.has(each))
}

async function runAll(world: World, cases: readonly Case[], options: CheckOptions): Promise<CaseResult[]> {
  const results = new Map<string, Promise<CaseResult>>()
  let done = 0
  const run = async (one: Case): Promise<CaseResult> => {
    const needed = await Promise.all((one.after ?? []).map((id) => results.get(id)))
    const result = await resultOf(world, one, needed, options)
    options.onResult?.(result, ++done, cases.length)
    return result
  }
  const [alone, shared] = [cases.filter((each) => each.alone === true), cases.filter((each) => each.alone !== true)]
  const waiting = shared.values()
  // In their order: what a case needs comes before it.
  const workers = Array.from({ length: world.reusesIdentifiers === true ? 1 : together }, async () => {
    for (const one of waiting) {
      const result = run(one)
      results.set(one.id, result)
      await result
    }
  })
  await Promise.all(workers)
  for (const one of alone) {
    const result = run(one)
    results.set(one.id, result)
    await result
  }
  return Promise.all(cases.map((each) => results.get(each.id) as Promise<CaseResult>))
}

/** So often a case is run that fails where a value may have been somebody else's already. */
const mostTurns = 6

async function runUnlessUnlucky(
  world: World,
  one: Case,
  collection: CollectionProfile,
  signal: AbortSignal | undefined,
): Promise<Shown> {
  for (let turn = 1; ; turn++) {
    const shown = await runCase(world, one, collection, `checked-${randomBytes(5).toString('hex')}`, signal)
    if (shown.kind !== 'judged' || shown.findings.length === 0 || turn === mostTurns) return shown
    const isUnlucky = shown.exchanges.some(({ asked, answer }) => asked.method === 'POST' && answer?.status === 409)
    if (!isUnlucky || !hasFewValues(collection) || signal?.aborted === true) return shown
  }
}

async function resultOf(
  world: World,
  one: Case,
  needed: readonly (CaseResult | undefined)[],
  { readOnly, signal, credential, other }: CheckOptions,
): Promise<CaseResult> {
  const { id, title, remedy: mend } = one
  const level = one.level ?? rules.find((rule) => rule.id === ruleOf(one))?.level ?? 'should'
  const began = performance.now()
  const said = (verdict: Verdict, why: string, more: Partial<CaseResult> = {}): CaseResult => ({
    ...{ id, title, level, mend, verdict, why, collection: '', findings: [], exchanges: [] },
    ...{ milliseconds: Math.round(performance.now() - began), ...more },
  })
  if (signal?.aborted) return said('not asked', 'the run was stopped before')
  if (readOnly === true && one.kind === 'changing') return said('not asked', 'it takes more than safe requests')
  const chosen = chooseCollections(one, world.profile, { hasKey: credential.length > 0, hasOther: other !== undefined })
  if ('why' in chosen) return said('not applicable', chosen.why)
  const missing = needed.find((each) => each !== undefined && each.verdict !== 'holds')
  if (missing?.verdict === 'not applicable') return said('not applicable', missing.why)
  if (missing !== undefined) return said('blocked', `${missing.id}: ${missing.verdict}`)
  let result: CaseResult | undefined
  // What a collection turns out not to have, another may.
  for (const each of chosen.collections) {
    const collection = each.name
    const shown = await runUnlessUnlucky(world, one, each, signal)
    // What a stop has cut short says nothing.
    if (signal?.aborted) return said('not asked', 'the run was stopped meanwhile', { collection })
    if (shown.kind === 'judged') {
      const { findings, exchanges } = shown
      if (findings.length === 0) return said('holds', '', { collection })
      return said(broken(level), '', { collection, findings, exchanges })
    }
    result ??= said(shown.kind, shown.why, { collection })
    if (result.verdict !== 'not applicable') return result
  }
  return result as CaseResult
}
