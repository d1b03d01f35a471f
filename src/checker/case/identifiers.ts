/** Identifiers that no record has: one to request and delete, and one for a client to choose. */
import { createHash } from 'node:crypto'
import type { CaseState } from './case-state.ts'
import { NotApplicable } from './not-judged.ts'

/**
 * An identifier of the same kind that no record has. Numbers are far larger than those in use. Texts do not begin with
 * a digit, because many servers parse a leading number: `190b2c4f-…` would be record 190.
 */
export function unusedIdentifier(id: string): string {
  if (/^\d+$/.test(id)) return `${id}000000`
  const parts = /^[\da-f]{8}-[\da-f]{4}-([\da-f])[\da-f]{3}-([\da-f])[\da-f]{3}-[\da-f]{12}$/i.exec(id)
  if (parts !== null) return `ffffffff-ffff-${parts[1]}fff-${parts[2]}fff-ffffffffffff`
  if (/^[\da-f]{16,}$/i.test(id)) return 'f'.repeat(id.length)
  return /\d/.test(id) ? id.replaceAll(/\d/g, 'z') : `${id}z`
}

/**
 * Whether a server may derive the next identifier from the largest one: integers, and texts that end with a number,
 * such as `ORD-000123`. A record with a chosen identifier moves such a sequence, and deleting the record does not move
 * it back.
 */
export function isSequential(id: string): boolean {
  if (uuid.test(id) || (/^[\da-f]{16,}$/i.test(id) && /[a-f]/i.test(id))) return false
  return /^\d+$/.test(id) || (/\d$/.test(id) && (id.length < 16 || /[^\da-z]\d{2,}$/i.test(id)))
}

const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i

/** Why a case that chooses an identifier is not tried. */
const notChosen =
  'not tried: identifiers are sequential, and one that the checker chooses could move the sequence for ever ' +
  '(--allow-chosen-ids tries it)'

/**
 * An identifier that a client could choose, of the same kind as those of the case's records. Every case gets another
 * one, because a careless server creates a record with it. `undefined` before the case has a record.
 *
 * Texts end with random characters: no server counts on from them. Numbers are little larger than those in use: a
 * sequence that follows them does not come near its end.
 *
 * @throws NotApplicable if identifiers are sequential and the profile does not allow to choose one
 */
export function choosableIdentifier({ made, mark, profile }: CaseState): string | undefined {
  const known = [...made].find(([name]) => !name.startsWith('parent '))?.[1].id
  if (known === undefined) return undefined
  if (isSequential(known) && profile.allowChosenIds !== true) throw new NotApplicable(notChosen)
  const digest = createHash('sha256').update(mark).digest('hex')
  if (/^\d+$/.test(known)) return String(BigInt(known) + 1_000n + (BigInt(`0x${digest.slice(0, 8)}`) % 9_000n))
  return known.slice(0, -12) + digest.slice(0, Math.min(12, known.length))
}
