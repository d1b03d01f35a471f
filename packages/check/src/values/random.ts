/**
 * Random values that derive from a seed, so that a run can be repeated. Each scope has values of its own, which do not
 * depend on what runs at the same time.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash, randomInt as trueRandomInt } from 'node:crypto'

interface Scope {
  readonly name: string
  /** The number of values that were drawn. */
  drawn: number
  /** The number of `nextCount`. */
  counted: number
}

const scopes = new AsyncLocalStorage<Scope>()
const outside: Scope = newScope(newSeed(), 'outside')

function newScope(seed: number, name: string): Scope {
  return { name: `${seed} ${name}`, drawn: 0, counted: 0 }
}

export function newSeed(): number {
  return trueRandomInt(2 ** 31)
}

/** Runs work whose random values derive from a seed and the name of a scope. */
export function withSeed<Result>(seed: number, scope: string, work: () => Result): Result {
  return scopes.run(newScope(seed, scope), work)
}

/** 16 random bytes, in hexadecimal digits. */
function randomHex(): string {
  const scope = scopes.getStore() ?? outside
  return createHash('sha256')
    .update(`${scope.name} ${scope.drawn++}`)
    .digest('hex')
    .slice(0, 32)
}

/** Ten random hexadecimal digits. */
export function randomText(): string {
  return randomHex().slice(0, 10)
}

/** A random number from 0 to 1, without 1. */
export function random(): number {
  return Number.parseInt(randomHex().slice(0, 13), 16) / 2 ** 52
}

/** A random integer from `least` to `most`. */
export function randomInt(least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1))
}

export function randomUuid(): string {
  const hex = randomHex()
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20)]
  return parts.join('-')
}

/** 1, 2, 3 and so on within a scope. */
export function nextCount(): number {
  return ++(scopes.getStore() ?? outside).counted
}
