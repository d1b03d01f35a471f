/** Identifiers that no record has: one that never was, to ask for and to delete, and one for a client to choose. */
import { createHash } from 'node:crypto'
import type { Known } from './known.ts'

/**
 * An identifier of the same kind that never was. A number grows beyond all that are in use. A text begins with no digit: many
 * servers read as much of a number as there is, and `190b2c4f-…` would be record 190.
 */
export function otherThan(id: string): string {
  if (/^\d+$/.test(id)) return `${id}000000`
  const parts = /^[\da-f]{8}-[\da-f]{4}-([\da-f])[\da-f]{3}-([\da-f])[\da-f]{3}-[\da-f]{12}$/i.exec(id)
  if (parts !== null) return `ffffffff-ffff-${parts[1]}fff-${parts[2]}fff-ffffffffffff`
  if (/^[\da-f]{16,}$/i.test(id)) return 'f'.repeat(id.length)
  return /\d/.test(id) ? id.replaceAll(/\d/g, 'z') : `${id}z`
}

/**
 * An identifier like those of a case's records that a client could choose: each case has its own, for a careless server makes a
 * record of it. `undefined` before there is a record.
 */
export function freshId({ made, mark }: Known): string | undefined {
  const known = [...made].find(([name]) => !name.startsWith('parent '))?.[1].id
  if (known === undefined) return undefined
  const digest = createHash('sha256').update(mark).digest('hex')
  // Numbers that fit into 31 bits, yet are seldom reached.
  if (/^\d+$/.test(known)) return String(2_000_000_000 + (Number.parseInt(digest.slice(0, 7), 16) % 147_000_000))
  return known.slice(0, -12) + digest.slice(0, Math.min(12, known.length))
}
