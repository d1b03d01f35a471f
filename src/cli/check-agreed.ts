/** Says what a check will do, and asks whether it may. */
import { createInterface } from 'node:readline/promises'
import { type Attempts, usedCollections } from '../checker/discovery/attempt.ts'
import { CannotCheck, type CollectionProfile } from '../checker/profile/profile.ts'
import { type Effects, effectsOf } from '../checker/run/effects.ts'

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
  if (readOnly) return ['Only safe requests are made: GET, HEAD and OPTIONS. The server may log them and count them.']
  const used = usedCollections(attempts)
  const effects = effectsOf(attempts, used)
  const remaining = remainderOf(attempts, used, effects).map((line) => `  - ${line}`)
  if (used.length === 0) {
    return [
      'No collection is known in which records can be made and deleted again: what needs one is left out.',
      ...['What remains on the server, as far as can be known:', ...remaining],
    ]
  }
  const names = used.map((name) => `${name} (up to about ${effects.records.get(name)})`).join(', ')
  return [
    `Records will be made in ${names}${used.length < attempts.profile.collections.length ? ' (in another, where that cannot be used)' : ''}, changed, and deleted again. What is there already is not touched.`,
    'What remains on the server, as far as can be known:',
    ...remaining,
  ]
}

/** The effects of a check that it cannot undo. */
function remainderOf(
  { profile }: Attempts,
  used: readonly string[],
  { records, requests, refused }: Effects,
): string[] {
  const all = profile.collections.filter(({ name }) => used.includes(name))
  const soft = all.filter(({ deletion }) => deletion === 'soft')
  const counted = all.filter(({ sequential }) => sequential !== false)
  const mailed = all.filter(({ schemas = {}, example = {} }) =>
    Object.entries(example).some(([name, value]) => schemas[name]?.['format'] === 'email' || /@/.test(String(value))),
  )
  const slow = all.filter(({ deletionAnswers = [] }) => deletionAnswers.includes(202))
  const from = (some: readonly CollectionProfile[]) => some.map(({ name }) => name).join(', ')
  const counts = (some: readonly CollectionProfile[]) =>
    some.map(({ name }) => `${name} by up to about ${records.get(name)}`).join(', ')
  return [
    ...(soft.length === 0
      ? []
      : [`Deleted records of ${from(soft)} stay in the recycle bin until the server purges them.`]),
    ...(counted.length === 0 ? [] : [`Identifiers that the server numbers move on: ${counts(counted)}.`]),
    ...(profile.allowChosenIds === true && counted.length > 0
      ? [
          `Identifiers of the checker's choice are sent: a server that accepts one may number ${from(counted)} from there.`,
        ]
      : []),
    ...((profile.exports ?? []).length === 0
      ? []
      : ['Exports and their jobs stay where the server does not let the checker delete them.']),
    ...(slow.length === 0 ? [] : [`Jobs of deletions in ${from(slow)} stay where the checker may not delete them.`]),
    ...(used.length === 0
      ? []
      : [
          `Logs, audit entries, events, webhooks and mails that the server writes or sends for each change.${mailed.length === 0 ? '' : ` Records of ${from(mailed)} have e-mail addresses: those that the checker makes up are at example.org.`}`,
          'What a server creates and neither names nor lists. Every collection is counted before and after, and what could not be deleted is reported.',
        ]),
    `Up to about ${requests} requests in logs and rate limits${refused === 0 ? '' : `, about ${refused} of them without a credential or with a wrong one`}.`,
    ...(profile.attempts === undefined
      ? []
      : [
          `This address fails to authenticate up to ${4 * profile.attempts} times, and has to wait as the server says.`,
        ]),
    ...(profile.disposable === true
      ? ['The profile calls all data disposable: a careless server may take some requests as "delete everything".']
      : []),
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
