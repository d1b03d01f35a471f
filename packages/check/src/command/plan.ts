/** Prints what a check will do and what it will leave behind, and asks for confirmation. */
import { createInterface } from 'node:readline/promises'
import type { Step } from '../case/case.ts'
import { collection as collectionAddress, nestedList } from '../case/references.ts'
import { CannotCheck, type CollectionProfile } from '../profile/profile.ts'
import { chooseCollections, creatableCollections, type PlannedRun } from '../run/choose-collections.ts'

/** The lines of a plan: what was discovered, what will be done, and what will remain on the server. */
export function planLines(planned: PlannedRun, notices: readonly string[], readOnly: boolean): string[] {
  const { base, document, collections } = planned.profile
  return [
    base,
    `  OpenAPI document: ${document ?? 'none at an address; the rules about it are left out'}`,
    `  Collections: ${collections.map(({ name }) => name).join(', ')}`,
    ...notices.map((notice) => `  ! ${notice}`),
    ...(readOnly
      ? ['The checker sends safe requests only: GET, HEAD and OPTIONS. The server may log and count them.']
      : changeLines(planned)),
  ]
}

function changeLines(planned: PlannedRun): string[] {
  const used = creatableCollections(planned)
  const effects = effectsOf(planned, used)
  const names = used.map((name) => `${name} (up to about ${effects.records.get(name)})`).join(', ')
  const isPartial = used.length < planned.profile.collections.length
  const fallback = isPartial ? ' If a collection cannot be used, it takes another one.' : ''
  return [
    used.length === 0
      ? 'The checker knows no collection in which it can create records and delete them again. It leaves out the ' +
        'cases that need one.'
      : `The checker creates records in ${names}, changes them and deletes them again.${fallback} ` +
        'It does not touch existing records.',
    'What remains on the server, as far as can be known:',
    ...remainderOf(planned, used, effects).map((line) => `  - ${line}`),
  ]
}

/** The effects that the checker cannot undo, one line each. */
function remainderOf(
  { profile }: PlannedRun,
  used: readonly string[],
  { records, requests, refused }: ReturnType<typeof effectsOf>,
): string[] {
  const all = profile.collections.filter(({ name }) => used.includes(name))
  const namesOf = (test: (collection: CollectionProfile) => boolean) => all.filter(test).map(({ name }) => name)
  const soft = namesOf(({ deletion }) => deletion === 'soft')
  const numbered = namesOf(({ sequential }) => sequential !== false)
  const mailed = namesOf(({ schemas = {}, example = {} }) =>
    Object.entries(example).some(([name, value]) => schemas[name]?.['format'] === 'email' || /@/.test(String(value))),
  )
  const deferred = namesOf(({ deletionAnswers = [] }) => deletionAnswers.includes(202))
  const { exports = [], attempts } = profile
  const unauthorized = refused === 0 ? '' : `, about ${refused} of them without a credential or with a wrong one`
  const counts = numbered.map((name) => `${name} by up to about ${records.get(name)}`)
  const lines: readonly (readonly [isSo: boolean, line: string])[] = [
    [soft.length > 0, `Deleted records of ${soft.join(', ')} stay in the recycle bin until the server purges them.`],
    [numbered.length > 0, `Identifiers that the server numbers move on: ${counts.join(', ')}.`],
    [
      profile.allowChosenIds === true && numbered.length > 0,
      'The checker sends identifiers that it chooses: a server that accepts one may number ' +
        `${numbered.join(', ')} from there.`,
    ],
    [exports.length > 0, 'Exports and their jobs stay if the server does not let the checker delete them.'],
    [deferred.length > 0, `Jobs of deletions in ${deferred.join(', ')} stay if the checker may not delete them.`],
    [
      used.length > 0,
      'Log entries, audit entries, events, webhooks and mails that the server writes or sends for each change.',
    ],
    [
      mailed.length > 0,
      `Records of ${mailed.join(', ')} have e-mail addresses: the checker generates addresses at example.org only.`,
    ],
    [
      used.length > 0,
      'Records that the server creates and neither names nor lists. The checker counts every collection before ' +
        'and after the run, and reports what it could not delete.',
    ],
    [true, `Up to about ${requests} requests in logs and rate limits${unauthorized}.`],
    [
      attempts !== undefined,
      `This address fails to authenticate up to ${4 * (attempts ?? 0)} times, and must wait as long as the ` +
        'server says.',
    ],
    [
      profile.disposable === true,
      'The profile says that all data may be lost: a careless server may take some requests as "delete everything".',
    ],
  ]
  return lines.flatMap(([isSo, line]) => (isSo ? [line] : []))
}

/**
 * Asks for confirmation at the terminal.
 *
 * @throws CannotCheck if there is no terminal
 */
export async function isConfirmed(signal: AbortSignal): Promise<boolean> {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    throw new CannotCheck('There is no terminal to ask for confirmation. Confirm with --yes, or use --read-only.')
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  // While the terminal reads, it handles Ctrl-C itself.
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

/** The records and requests of the trial of one collection. */
const perTrial = { records: 4, requests: 20 }

/**
 * Estimates what a run does on a server that answers as the cases demand, rounded to two digits: the records that it
 * creates, by collection; its requests; and those among them without a credential, or with a wrong one.
 */
function effectsOf({ profile, cases, ...callers }: PlannedRun, used: readonly string[]) {
  const records = new Map<string, number>(used.map((name) => [name, perTrial.records]))
  const add = (name: string, count: number) => {
    if (records.has(name)) records.set(name, (records.get(name) ?? 0) + count)
  }
  let [requests, refused] = [used.length * perTrial.requests, 0]
  for (const one of cases) {
    const chosen = chooseCollections(one, profile, callers)
    const collection = 'collections' in chosen ? chosen.collections[0] : undefined
    if (collection === undefined) continue
    const sum = sumOf(one.steps)
    requests += sum.requests + sum.records
    refused += sum.refused
    if (sum.records === 0) continue
    add(collection.name, sum.records)
    // The records need one record of each collection to which they refer.
    for (const parent of new Set(Object.values(collection.references))) add(parent, 1)
  }
  return {
    records: new Map([...records].map(([name, count]) => [name, rounded(count)])),
    requests: rounded(requests),
    refused: rounded(refused),
  }
}

function sumOf(steps: readonly Step[]) {
  const sum = { records: 0, requests: 0, refused: 0 }
  for (const step of flattened(steps)) {
    if (step.kind === 'ask') {
      const { method, to, caller } = step.request
      const times = step.times ?? 1
      const isRefused = caller === 'nobody' || caller === 'wrong'
      const creates = method === 'POST' && (to === collectionAddress || to === nestedList) && !isRefused
      sum.records += creates ? times : 0
      sum.requests += times
      sum.refused += isRefused ? times : 0
    } else if (step.kind === 'create' || step.kind === 'outgrow') {
      const count = step.kind === 'create' ? (step.count ?? 1) : step.most
      sum.records += count
      sum.requests += count
    } else if (step.kind === 'walk') sum.requests += 3
    else if (step.kind !== 'require' && step.kind !== 'wait') sum.requests += 2
  }
  return sum
}

/** Steps with the steps that they hold. Requests that are sent together count one by one. */
function flattened(steps: readonly Step[]): readonly Step[] {
  return steps.flatMap((step): readonly Step[] => {
    if (step.kind === 'together') return step.asks
    return step.kind === 'walk' ? [step, ...flattened(step.between ?? [])] : [step]
  })
}

/** Rounds up to two digits. */
function rounded(count: number): number {
  if (count < 10) return count
  const step = 10 ** (String(count).length - 2)
  return Math.ceil(count / step) * step
}
