/** Requests by chance: most of them make sense, some do not, some are meant ill. */
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { pick, type Random } from '../durability/random.ts'
import { bodyOf } from './bodies.ts'
import { creation, type Maker, type Making, makers, type Place } from './drafts.ts'
import type { Asked, CallerName } from './twins.ts'

/** Makes the next request. */
export function nextRequest(making: Making, number: number, at: number): Asked {
  const { random, known } = making
  if (random() < 0.03 && known.keyed.length > 0) {
    const again = pick(random, known.keyed)
    return { ...again, number, at, ...(random() < 0.2 && { body: bodyOf(making, somewhere(making)) }) }
  }
  // There has to be something first.
  const make = number <= 30 ? creation : weighted(random, makers)
  const { method, target, headers = {}, body } = make(making, somewhere(making))
  const as = pick<CallerName>(random, ['root', 'root', 'root', 'ann', 'ann', 'bob', 'eve'])
  const all: Record<string, string> = { ...headers }
  if (body !== undefined) all['content-type'] ??= random() < 0.01 ? 'text/plain' : 'application/json'
  if (random() < 0.1) Object.assign(all, conditions(making, target))
  if (random() < 0.07) all['prefer'] = pick(random, preferences)
  if (method === 'POST' && random() < 0.2) all['idempotency-key'] = `"key-${Math.floor(random() * 30)}"`
  if (random() < 0.02)
    all['accept'] = pick(random, ['text/html', 'application/json;q=0.5', 'application/problem+json', '*/*'])
  if (random() < 0.02)
    all['range'] = pick(random, ['bytes=0-9', 'bytes=5-', 'bytes=-7', 'bytes=99999999-', 'bytes=0-1,4-5', 'x'])
  return { number, at, as, method, target, headers: all, ...(body !== undefined && { body }) }
}

const preferences = [
  ...['return=minimal', 'return=representation', 'respond-async', 'return=minimal, respond-async'],
  ...[
    'handling=strict, max-affected=1',
    'handling=strict, max-affected=3',
    'handling=strict, unknown',
    'max-affected=0',
  ],
]

function somewhere({ random, catalogs }: Making): Place {
  const version = random() < 0.25 ? 'v1' : 'v2'
  const resources = [...(catalogs.get(version) as Catalog).resources.values()]
  // The one with all fields most of the time.
  const rich = resources.find(({ name }) => name === 'beasts' || name === 'animals') as Resource
  const resource = random() < 0.5 ? rich : pick(random, resources)
  return { version, resource, path: `/${version}/${resource.name}` }
}

function weighted(random: Random, from: readonly (readonly [number, Maker])[]): Maker {
  let left = random() * from.reduce((sum, [weight]) => sum + weight, 0)
  for (const [weight, maker] of from) if ((left -= weight) < 0) return maker
  return from[0]?.[1] as Maker
}

function conditions({ random, known }: Making, target: string): Record<string, string> {
  const [path] = target.split('?')
  const own = known.tags.filter((each) => each.path === path)
  const { tag, modified } = own.length > 0 ? pick(random, own) : { tag: '"1"', modified: undefined }
  const value = pick(random, [tag, tag, tag, '*', `"x", ${tag}`, `W/${tag}`, '"0"', 'x', ''])
  const date = modified ?? 'Thu, 01 Jan 2026 00:00:00 GMT'
  return pick<Record<string, string>>(random, [
    { 'if-match': value },
    { 'if-match': value },
    { 'if-none-match': value },
    { 'if-none-match': value },
    { 'if-unmodified-since': date },
    { 'if-modified-since': date },
    { 'if-range': tag, range: 'bytes=0-20' },
  ])
}
