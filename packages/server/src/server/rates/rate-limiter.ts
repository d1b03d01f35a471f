/** Rate limits: which requests pass (LIM-1), and the header fields that report it (LIM-2). */

import { isIPv6 } from 'node:net'
import { groupsOf, plainAddress } from 'resourced-contract/model/address-policy'
import { type CountedAction, countedActions } from 'resourced-contract/model/declaration'
import { type Catalog, storedResource } from 'resourced-contract/model/resource'
import { type Fault, fault } from 'resourced-contract/spec/faults'
import type { Operation } from '../../request/operations.ts'
import { actionsOf, type Found, type Target, upsertActions } from '../../request/target.ts'
import type { Observe } from '../observe/observe.ts'
import { type Counted, type Counter, type Quota, type Standing, sharedCounter } from './counter.ts'
import { redisCounter } from './redis-counter.ts'

/** The result of counting a request. */
export interface RateDecision {
  /** `RateLimit-Policy` of the response, whatever its status. */
  readonly policy: string
  /** `RateLimit`. */
  readonly limits: string
  /** Set if the request exceeds a quota. */
  readonly refusal: Fault | undefined
}

/** What one request changes. */
export interface Changes {
  readonly records: number
  /** The operations of a transaction, each of which counts for its action as a request does. */
  readonly operations?: readonly Pick<Operation, 'target' | 'method'>[]
  /** The records are changed already, so none is refused. */
  readonly hasHappened?: boolean
}

/** Counts requests and failed authentications. Both throw if the counter fails. */
export interface RateLimiter {
  /**
   * Counts a request of a caller.
   *
   * @param tenant that of the caller, whose requests count together too; left out: none
   */
  admit(caller: string, found: Found, method: string, tenant?: string): Promise<RateDecision>
  /**
   * Counts what a request changes, or has changed; left out, or `undefined`: it is not limited.
   *
   * @throws Fault BODY_TOO_LARGE if it would never pass
   */
  readonly change?: ((caller: string, changes: Changes) => Promise<RateDecision | undefined>) | undefined
  /**
   * Counts a failed authentication. Returns a refusal once there were too many.
   *
   * @param address empty if it is not known: all clients without an address share one limit
   */
  fail(address: string): Promise<Fault | undefined>
  close(): void
}

/** The quotas of a request, and their header field. */
interface Terms {
  readonly quotas: readonly Quota[]
  readonly policy: string
}

/** Makes the limiter of a catalog. */
function rateLimiter(catalog: Catalog, counter: Counter, observe: Observe): RateLimiter {
  const { rate } = catalog.limits
  const caller: Quota = { name: 'caller', ...rate.caller }
  const address: Quota = { name: 'address', ...rate.address }
  const own = everyTerms(catalog, [caller])
  const ofTenant = rate.tenant === undefined ? own : everyTerms(catalog, [caller, { name: 'tenant', ...rate.tenant }])

  function termsFor(found: Found, method: string, terms: EveryTerms): Terms {
    return (found.kind === 'found' ? termsOfAction(found.target, method, terms) : undefined) ?? terms.usual
  }

  function termsOfAction(target: Target, method: string, { special }: EveryTerms): Terms | undefined {
    if (special.size === 0 || !('resource' in target)) return undefined
    // Quotas are declared for stored collections, whose names may differ in older versions.
    return special.get(`${storedResource(target.resource).name}.${actionsOf(target, method).join()}`)
  }

  const changes: Quota | undefined = rate.changes && { name: 'changes', ...rate.changes }

  /** How much counts against which quotas. */
  function amountsOf({ records, operations = [] }: Changes): ReadonlyMap<Quota, number> {
    const amounts = new Map<Quota, number>(changes === undefined || records === 0 ? [] : [[changes, records]])
    for (const { target, method } of operations) {
      for (const quota of termsOfAction(target, method, own)?.quotas ?? []) {
        // The transaction is one request.
        if (quota !== caller) amounts.set(quota, (amounts.get(quota) ?? 0) + 1)
      }
    }
    return amounts
  }

  function refusalOf({ passes, standings }: Counted, amounts?: ReadonlyMap<Quota, number>): Fault | undefined {
    if (passes) return undefined
    const spent = standings.filter(({ quota, left }) => left < (amounts?.get(quota) ?? 1))
    for (const { quota } of spent) observe({ kind: 'refusal', quota: quota.name })
    return refusalFor(spent)
  }

  async function countChanges(id: string, changed: Changes): Promise<RateDecision | undefined> {
    const amounts = amountsOf(changed)
    if (amounts.size === 0) return undefined
    const { hasHappened = false } = changed
    const shares = [...amounts].map(([quota, amount]) => ({ quota, of: id, amount, hasHappened }))
    const beyond = shares.find(({ quota, amount }) => !hasHappened && amount > quota.most)
    if (beyond !== undefined) throw tooMany(beyond)
    const counted = await counter.count(shares)
    const policy = formatPolicies([...amounts.keys()])
    return { policy, limits: formatLimits(counted.standings), refusal: refusalOf(counted, amounts) }
  }

  return {
    async admit(id, found, method, tenant) {
      const { quotas, policy } = termsFor(found, method, tenant === undefined ? own : ofTenant)
      const ofAll = tenant === undefined ? id : tenant
      const counted = await counter.count(quotas.map((quota) => ({ quota, of: quota.name === 'tenant' ? ofAll : id })))
      return { policy, limits: formatLimits(counted.standings), refusal: refusalOf(counted) }
    },
    change: changes === undefined && own.special.size === 0 ? undefined : countChanges,
    async fail(from) {
      // Clients without a known address share one limit; without any limit, they could guess credentials forever.
      return refusalOf(await counter.count([{ quota: address, of: networkOf(from) }]))
    },
    close: () => counter.close(),
  }
}

function termsOf(quotas: readonly Quota[]): Terms {
  return { quotas, policy: formatPolicies(quotas) }
}

/** The terms of all requests: of most of them, and of those for actions that have declared rates. */
interface EveryTerms {
  readonly usual: Terms
  readonly special: ReadonlyMap<string, Terms>
}

function everyTerms(catalog: Catalog, always: readonly Quota[]): EveryTerms {
  return { usual: termsOf(always), special: specialTerms(catalog, always) }
}

function specialTerms({ resources, limits }: Catalog, always: readonly Quota[]): ReadonlyMap<string, Terms> {
  const declared = [...limits.rate.actions].map(([name, rate]): Quota => ({ name, ...rate }))
  const terms = new Map<string, Terms>()
  for (const collection of resources.keys()) {
    for (const actions of [...countedActions.map((action) => [action]), upsertActions]) {
      const quotas = declared.filter(({ name }) => actions.some((action) => covers(name, collection, action)))
      if (quotas.length > 0) terms.set(`${collection}.${actions.join()}`, termsOf([...always, ...quotas]))
    }
  }
  return terms
}

/** Whether a declared name, such as `tasks.create` or `*.create`, means an action. */
function covers(name: string, collection: string, action: CountedAction): boolean {
  const [declaredCollection, declaredAction] = name.split('.')
  return [collection, '*'].includes(declaredCollection ?? '') && [action, '*'].includes(declaredAction ?? '')
}

/**
 * Writes the value of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-11 section 3), a list of structured
 * fields (RFC 9651). Names of quotas are ASCII without quotation marks and backslashes.
 *
 * @example
 * formatPolicies([{ name: 'caller', most: 600, window: 60 }]) // "caller";q=600;w=60
 */
export function formatPolicies(quotas: readonly Quota[]): string {
  return quotas.map(({ name, most, window }) => `"${name}";q=${most};w=${window}`).join(', ')
}

/** Writes the value of `RateLimit` (section 4), in the same way: `"caller";r=599;t=60`. */
export function formatLimits(standings: readonly Standing[]): string {
  let text = ''
  // Every response has one, and a loop costs half as much as `map` and `join`.
  for (const standing of standings) {
    const separator = text === '' ? '' : ', '
    text += `${separator}"${standing.quota.name}";r=${standing.left};t=${secondsUntilEnd(standing)}`
  }
  return text
}

/** The effective window: the quota has no more room within these whole seconds. */
function secondsUntilEnd({ until }: Standing): number {
  return Math.ceil(until / 1_000)
}

function refusalFor(spent: readonly Standing[]): Fault {
  // The next request passes when all of them have room.
  const seconds = Math.max(...spent.map(secondsUntilEnd))
  const [first] = spent.map(({ quota }) => `${whatOf(quota)}: ${quota.most} in ${secondsText(quota.window)}`)
  return fault('RATE_LIMITED', {
    detail: `There were too many ${first} are allowed. Ask again in ${secondsText(seconds)}.`,
    headers: { 'Retry-After': String(seconds) },
  })
}

/** The refusal of a request that counts more than a quota ever has room for: to wait would not help. */
function tooMany({ quota, amount }: { readonly quota: Quota; readonly amount: number }): Fault {
  const allowed = `${quota.most} in ${secondsText(quota.window)} are allowed`
  return fault('BODY_TOO_LARGE', { detail: `The body counts as ${amount} ${whatOf(quota)}: ${allowed}. Send less.` })
}

function whatOf({ name }: Quota): string {
  if (name === 'caller') return 'requests'
  if (name === 'tenant') return 'requests of your tenant'
  if (name === 'changes') return 'changed records'
  return name === 'address' ? 'failed authentications from your address' : `requests for ${name}`
}

function secondsText(seconds: number): string {
  return seconds === 1 ? 'a second' : `${seconds} seconds`
}

/**
 * The network that an address counts for. For IPv6 that is the first half: a client with one address has 2⁶⁴ of them.
 * IPv4 addresses count individually, however they are written.
 *
 * @example
 * networkOf('2001:db8::1') // 2001:db8:0:0::/64
 * networkOf('::ffff:192.0.2.1') // 192.0.2.1
 */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%')
  const known = plainAddress(plain) ?? address
  if (!isIPv6(known)) return known
  const half = groupsOf(plain).slice(0, 4)
  return `${half.map((group) => group.toString(16)).join(':')}::/64`
}

/** How rates are limited. */
export interface RateOptions {
  /** `off`: no limits. By default, the limits of the declaration. */
  readonly rateLimit?: 'declared' | 'off'
  /** The address of a Redis or Valkey server, `redis://…` or `rediss://…`: servers that share it count together. */
  readonly redis?: string
  /** While Redis fails: `open` (default) counts on each server separately, `closed` refuses requests (502). */
  readonly rateLimitOnFailure?: 'open' | 'closed'
}

/**
 * Makes the limiter for the options; `undefined` if they turn limits off.
 *
 * @param services `now`: milliseconds since 1970; `counter`: counts without Redis, and while it fails; by default, in
 *   the memory of this process alone
 * @throws ConfigurationError if the address of Redis is not understood
 */
export function openRateLimiter(
  catalog: Catalog,
  { rateLimit, redis, rateLimitOnFailure = 'open' }: RateOptions,
  {
    now,
    observe,
    counter: local = sharedCounter(now),
  }: { readonly now: () => number; readonly observe: Observe; readonly counter?: Counter | undefined },
): RateLimiter | undefined {
  if (rateLimit === 'off') return undefined
  if (redis === undefined) return rateLimiter(catalog, local, observe)
  const fallback = rateLimitOnFailure === 'open' ? local : undefined
  const shared = redisCounter({ url: redis, prefix: `resourced:${catalog.name}`, fallback, observe })
  return rateLimiter(catalog, shared, observe)
}
