/** Digests of predicates, as parts of cache keys. */
import { hash } from 'node:crypto'
import { exactText } from 'resourced-contract/model/plain-copy'
import type { Predicate } from 'resourced-contract/model/predicate'

const digests = new WeakMap<Predicate, string>()

/**
 * The digest of a predicate, as a part of cache keys; empty for `always`. It is computed once for each predicate
 * object. It is a cryptographic hash, so that no caller can write two filters with one digest.
 */
export function predicateDigest(predicate: Predicate): string {
  if (predicate.kind === 'always') return ''
  const known = digests.get(predicate)
  if (known !== undefined) return known
  const digest = hash('sha256', exactText(predicate), 'base64url').slice(0, 22)
  digests.set(predicate, digest)
  return digest
}
