/** Says what a check will do, and asks whether it may. */
import { createInterface } from 'node:readline/promises'
import { type Attempts, usedCollections } from '../checker/discover/attempt.ts'
import { CannotCheck } from '../checker/discover/cannot-check.ts'

/** What was found and what will be done, in a few lines. */
export function announcement(attempts: Attempts, notices: readonly string[], readOnly: boolean): string[] {
  const { profile } = attempts
  const { base, document, collections } = profile
  return [
    base,
    `  OpenAPI document: ${document ?? 'none at an address of its own; the rules about it are left out'}`,
    `  Collections: ${collections.map(({ name }) => name).join(', ')}`,
    ...notices.map((notice) => `  ! ${notice}`),
    ...intentions(attempts, readOnly),
  ]
}

function intentions(attempts: Attempts, readOnly: boolean): string[] {
  if (readOnly) return ['Only safe requests are made: GET, HEAD and OPTIONS.']
  const used = usedCollections(attempts)
  const soft = attempts.profile.collections.filter(({ name, deletion }) => used.includes(name) && deletion === 'soft')
  const names = used.join(', ')
  if (used.length === 0) {
    return ['No collection is known in which records can be made and deleted again: what needs one is left out.']
  }
  return [
    `Records will be made in ${names}${used.length < attempts.profile.collections.length ? ' (in another, where that cannot be used)' : ''}, changed, and deleted again. What is there already is not touched.`,
    ...(soft.length === 0
      ? []
      : [
          `Deleted records of ${soft.map(({ name }) => name).join(', ')} stay in the recycle bin until the server purges them.`,
        ]),
    ...((attempts.profile.exports ?? []).length === 0
      ? []
      : ['Exports will be made; they and their jobs stay until the server removes them.']),
  ]
}

/**
 * Asks at the terminal.
 *
 * @throws CannotCheck where there is nobody to ask
 */
export async function isAgreed(signal: AbortSignal): Promise<boolean> {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    throw new CannotCheck('Nobody is here to be asked: say --yes for all that, or --read-only for safe requests alone.')
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  // The terminal takes Ctrl-C for itself while it reads.
  terminal.on('SIGINT', () => terminal.close())
  try {
    const answer = await terminal.question('Go on? [y/N] ', { signal })
    return /^y(?:es)?$/i.test(answer.trim())
  } catch {
    return false
  } finally {
    terminal.close()
  }
}
