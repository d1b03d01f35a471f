/** Chance that can be repeated: the same seed gives the same numbers. */

/** Gives the next number, at least 0 and under 1. */
export type Random = () => number

/** Numbers from a seed, by xorshift over 32 bits. */
export function randomFrom(seed: number): Random {
  let state = (Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995) | 1
  const next = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
  // Seeds that differ in one bit begin alike.
  for (let turn = 0; turn < 16; turn++) next()
  return next
}

/** One of several. */
export function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T
}

/** The seed of a test run: `SEED` of the environment, or a new one. */
export function seedOfRun(): number {
  const { SEED } = process.env
  return SEED === undefined ? Math.floor(Math.random() * 1_000_000) : Number(SEED)
}
