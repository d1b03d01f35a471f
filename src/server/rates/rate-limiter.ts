/** Decides who may go on asking (LIM-1), and what answers say of it (LIM-2). */
import { formatLimits, formatPolicies } from '../../http/fields/rate-limit.ts'
import type { ResponseHeaders } from '../../http/message.ts'
import { type CountedAction, countedActions } from '../../model/limits.ts'
import { type Catalog, storedResource } from '../../model/resource.ts'
import type { Found } from '../../request/target.ts'
import { type Fault, fault } from '../../spec/faults.ts'
import type { Observe } from '../observe/observe.ts'
import { actionOf } from './action.ts'
import { networkOf } from './network.ts'
import type { Counted, Counter, Quota, Standing } from './quota.ts'

/** What a counted request comes to. */
export interface Admission {
  /** For the answer, whatever it will be. */
  readonly headers: ResponseHeaders
  /** Why it may not go on. */
  readonly refusal: Fault | undefined
}

/** Counts requests and failures. Where the counter fails, so do both. */
export interface RateLimiter {
  /** Counts a request of a caller. */
  admit(caller: string, found: Found, method: string): Promise<Admission>
  /**
   * Counts a failed authentication; once there were too many it gives what to refuse it with.
   *
   * @param address empty where it is not known: all clients without an address count as one
   */
  fail(address: string): Promise<Fault | undefined>
  close(): void
}

/** What a request counts against, and how that is announced. */
interface Terms {
  readonly quotas: readonly Quota[]
  readonly policy: string
}

/** Makes the limiter of a catalog. */
export function rateLimiter(catalog: Catalog, counter: Counter, observe: Observe): RateLimiter {
  const { rate } = catalog.limits
  const caller: Quota = { name: 'caller', ...rate.caller }
  const address: Quota = { name: 'address', ...rate.address }
  const usual = termsOf([caller])
  const special = specialTerms(catalog, caller)

  function termsFor(found: Found, method: string): Terms {
    if (special.size === 0 || found.kind !== 'found' || !('resource' in found.target)) return usual
    const action = actionOf(found.target, method)
    const { name } = storedResource(found.target.resource)
    // Quotas are of what is stored, whatever a version calls it.
    return special.get(`${name}.${action}`) ?? usual
  }

  function refusalOf({ passes, standings }: Counted): Fault | undefined {
    if (passes) return undefined
    const spent = standings.filter(({ left }) => left === 0)
    for (const { quota } of spent) observe({ kind: 'refusal', quota: quota.name })
    return refusalFor(spent)
  }

  return {
    async admit(id, found, method) {
      const { quotas, policy } = termsFor(found, method)
      const counted = await counter.count(quotas.map((quota) => ({ quota, of: id })))
      const headers = { 'RateLimit-Policy': policy, RateLimit: formatLimits(counted.standings.map(limitOf)) }
      return { headers, refusal: refusalOf(counted) }
    },
    async fail(from) {
      // Clients without a known address share one limit: without a limit, credentials could be guessed for ever.
      return refusalOf(await counter.count([{ quota: address, of: networkOf(from) }]))
    },
    close: () => counter.close(),
  }
}

function termsOf(quotas: readonly Quota[]): Terms {
  return { quotas, policy: formatPolicies(quotas) }
}

/** The terms of the actions that rates are declared for. */
function specialTerms({ resources, limits }: Catalog, caller: Quota): ReadonlyMap<string, Terms> {
  const declared = [...limits.rate.actions].map(([name, rate]): Quota => ({ name, ...rate }))
  const terms = new Map<string, Terms>()
  for (const collection of resources.keys()) {
    for (const action of countedActions) {
      const quotas = declared.filter(({ name }) => covers(name, collection, action))
      if (quotas.length > 0) terms.set(`${collection}.${action}`, termsOf([caller, ...quotas]))
    }
  }
  return terms
}

/** Whether a declared name, such as `tasks.create` or `*.create`, means an action. */
function covers(name: string, collection: string, action: CountedAction): boolean {
  const [declaredCollection, declaredAction] = name.split('.')
  return [collection, '*'].includes(declaredCollection ?? '') && [action, '*'].includes(declaredAction ?? '')
}

function limitOf({ quota, left, until }: Standing): { name: string; left: number; seconds: number } {
  return { name: quota.name, left, seconds: Math.ceil(until / 1_000) }
}

function refusalFor(spent: readonly Standing[]): Fault {
  // All of them must have room again for the next one to pass.
  const seconds = Math.max(...spent.map((standing) => limitOf(standing).seconds))
  const [first] = spent.map(({ quota }) => `${whatOf(quota)}: ${quota.most} in ${secondsText(quota.window)}`)
  return fault('RATE_LIMITED', {
    detail: `There were too many ${first} are allowed. Ask again in ${secondsText(seconds)}.`,
    headers: { 'Retry-After': String(seconds) },
  })
}

function whatOf({ name }: Quota): string {
  if (name === 'caller') return 'requests'
  return name === 'address' ? 'failed authentications from your address' : `requests for ${name}`
}

function secondsText(seconds: number): string {
  return seconds === 1 ? 'a second' : `${seconds} seconds`
}
