/** The check as a command: discovers a server, asks for confirmation, checks the rules, and prints a report. */
import { readFileSync, writeSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { stripVTControlCharacters } from 'node:util'
import type { Command } from 'commander'
import { suggest } from 'resourced-contract/model/nearest'
import { ruleSections, rules } from 'resourced-contract/spec/rules'
import { cases } from '../cases/cases.ts'
import { Client, watchForLoss } from '../client/client.ts'
import { hideSecrets } from '../client/credentials.ts'
import type { Fields } from '../client/exchange.ts'
import { type Discovered, discover } from '../discovery/discover.ts'
import { tryCollections } from '../discovery/try-collections.ts'
import { CannotCheck, type PartialProfile, readProfile, writeProfile } from '../profile/profile.ts'
import { Recording } from '../report/har.ts'
import { htmlReport } from '../report/html.ts'
import { compareReports, jsonReport, parseReport, type SavedReport } from '../report/json.ts'
import { junitReport } from '../report/junit.ts'
import { markdownReport } from '../report/markdown.ts'
import { hasFailed, isObserved, leftoverLines, leftoversOf } from '../report/summary.ts'
import { type TextOptions, textReport } from '../report/text.ts'
import { recordPaths, takeCensus } from '../run/census.ts'
import { check, exchangeRedactor, type Report, withDependencies } from '../run/check.ts'
import { Ledger } from '../run/ledger.ts'
import { newSeed, withSeed } from '../values/random.ts'
import { isConfirmed, planLines } from './plan.ts'
import { type Progress, print, showProgress } from './terminal.ts'

/**
 * Checks a server. The exit code is 0 if every case about HTTP or safety holds that must hold, 1 if one does not, 2 if
 * the server or the command line cannot be used, 3 if the server stopped answering, and 130 if the user stopped the
 * check.
 */
export async function checkCommand(address: string, options: CheckCommandOptions, command: Command): Promise<void> {
  let hide = (text: string) => text
  try {
    const target = targetOf(address, options)
    hide = hideSecrets([target.credential, target.other])
    const program = command.parent === null ? command.name() : `${command.parent.name()} ${command.name()}`
    process.exitCode = await checkTarget(target, { ...options, program }, hide)
  } catch (error) {
    process.stderr.write(
      `${hide(error instanceof CannotCheck ? error.message : ((error as Error).stack ?? String(error)))}\n`,
    )
    process.exitCode = 2
  }
}

interface Session {
  readonly target: CheckTarget
  readonly options: CheckOptions
  readonly client: Client
  readonly ledger: Ledger
  readonly progress: Progress
  readonly signal: AbortSignal
  readonly seed: number
  readonly hide: (text: string) => string
}

async function checkTarget(target: CheckTarget, options: CheckOptions, hide: (text: string) => string) {
  const details = detailsOf(options.details)
  const rules = onlyOf(options.only) ?? rulesOf(details)
  const earlier = options.compare === undefined ? undefined : earlierReport(options.compare)
  const given = givenProfile(options)
  const concurrency = concurrencyOf(options.concurrency)
  const ca = options.cacert === undefined ? undefined : fileOf(options.cacert, '--cacert')
  const ledger = new Ledger()
  const interruption = handleInterruption(ledger)
  const { signal } = interruption
  const seed = seedOf(options.seed) ?? newSeed()
  const progress = showProgress({ title: 'Checking', unit: 'cases' })
  const onPause = announcePauses(progress)
  const client = new Client({ concurrency, insecure: options.insecure, ca, signal, onPause })
  client.fields = target.fields
  client.mediaType = target.mediaType ?? client.mediaType
  ledger.watch(client)
  let lost: string | undefined
  watchForLoss(client, (reason) => {
    lost = reason
    interruption.stop()
  })
  const recording = options.record === undefined ? undefined : new Recording(client)
  const session: Session = { target, options, client, ledger, progress, signal, hide, seed }
  try {
    const { openapi, collection: only } = options
    const requester = { client, credential: target.credential, signal }
    const start = () => discover(requester, { url: target.url, openapi, only, given })
    const found = await withSeed(seed, 'discovery', start).catch((error: unknown) => {
      // An error after a stop says nothing about the server.
      if (signal.aborted) return undefined
      throw error
    })
    if (found === undefined || signal.aborted) return stopStatus(lost)
    requireBase(earlier, found.profile.base, options.compare)
    if (options.init) return await writeInitialProfile(found, options, hide)
    const report = await runCases(found, rules, session)
    if (report === undefined) return signal.aborted ? stopStatus(lost) : 2
    await output(report, { ...options, details }, earlier)
    if (report.stopped) return stopStatus(lost)
    if (report.rules.some(({ cases: all }) => all.some(isObserved))) return hasFailed(report) ? 1 : 0
    process.stderr.write('No rule could be observed. The report has the reason for each rule.\n')
    return 2
  } finally {
    progress.end()
    interruption.end()
    client.close()
    if (options.record !== undefined && recording !== undefined) {
      const redact = exchangeRedactor({ KEY: target.credential, OTHER_KEY: target.other ?? [] })
      await writeReport(options.record, recording.toHar(redact), '--record')
    }
  }
}

/** The exit code of a check that did not come to its end; says why the server is lost. */
function stopStatus(lost: string | undefined): number {
  if (lost === undefined) return 130
  process.stderr.write(
    `The server stopped answering, and the check stopped. The last failure was: ${lost}.\n` +
      'Records whose creation it did not answer may be left too: most contain checked- and ten more characters.\n',
  )
  return 3
}

/** Prints one line for each pause, however many requests get a 429 during it. */
function announcePauses(progress: Progress): (seconds: number) => void {
  let until = 0
  return (seconds) => {
    const now = performance.now()
    if (now >= until) progress.say(`The server asks for a pause of ${Math.ceil(seconds)} s (429). The check waits.`)
    until = Math.max(until, now + seconds * 1_000)
  }
}

/**
 * Prints the plan, asks for confirmation, tries the collections, and runs the cases; `undefined` without confirmation.
 */
async function runCases(
  { profile, notices, guessed, parameters }: Discovered,
  only: readonly string[] | undefined,
  { target, options, client, ledger, progress, signal, hide, seed }: Session,
): Promise<Report | undefined> {
  const { credential, other } = target
  const readOnly = options.readOnly === true
  const planned = {
    ...{ profile, cases: withDependencies(cases, only) },
    ...{ hasKey: credential.length > 0, hasOther: other !== undefined },
  }
  for (const line of planLines(planned, notices, readOnly)) progress.say(hide(line))
  if (!readOnly && options.yes !== true && !(await isConfirmed(signal))) return undefined
  // The census comes before all requests that could change a record.
  const before = readOnly ? undefined : await takeCensus({ client, credential }, profile)
  for (const path of before === undefined ? [] : recordPaths(profile, before)) ledger.foreign.add(path)
  const tried = readOnly
    ? { profile, notices: [] }
    : await withSeed(seed, 'trial', () =>
        tryCollections({ client, credential, signal }, { ...planned, guessed, parameters, other, ledger }),
      )
  for (const notice of signal.aborted ? [] : tried.notices) progress.say(hide(`! ${notice}`))
  const report = await check({
    ...{ profile: tried.profile, client, credential, other, readOnly, only, signal, ledger, before },
    ...{ strict: options.strict, seed },
    onResult: (_, done, all) => progress.update(done, done / all),
  })
  progress.end()
  return report
}

function givenProfile({ profile: file, origin, allowChosenIds }: CheckCommandOptions): PartialProfile {
  const profile = file === undefined ? {} : readProfile(fileOf(file, '--profile'), file)
  if (origin !== undefined && (!URL.canParse(origin) || new URL(origin).origin !== origin)) {
    throw new CannotCheck('--origin takes an origin, such as https://app.example.com.')
  }
  return { ...profile, ...(allowChosenIds === true && { allowChosenIds }), ...(origin !== undefined && { origin }) }
}

function earlierReport(file: string): SavedReport {
  const text = fileOf(file, '--compare')
  try {
    return parseReport(text)
  } catch {
    throw new CannotCheck(`--compare: ${file} is no report that --save wrote.`)
  }
}

/**
 * Verdicts on two servers say nothing about a change.
 *
 * @throws CannotCheck if a saved report is of another base
 */
function requireBase(earlier: SavedReport | undefined, base: string, file = ''): void {
  const plain = (address: string) => address.replace(/\/+$/, '')
  if (earlier === undefined || plain(earlier.base) === plain(base)) return
  throw new CannotCheck(
    `--compare: ${file} is a report on ${earlier.base}, and this run checks ${base}. Compare reports on one base.`,
  )
}

const usualProfile = 'resourced-check.yaml'

async function writeInitialProfile(
  { profile, notices }: Discovered,
  { output: file = usualProfile, program }: CheckOptions,
  hide: (text: string) => string,
): Promise<number> {
  const text = hide(writeProfile(profile, notices, new Date()))
  if (file === '-') {
    print(text)
    return 0
  }
  try {
    // An existing file may hold the corrections of a user.
    await writeFile(file, text, { flag: 'wx' })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'EEXIST' ? 'exists already; name another with --output FILE' : `cannot be written (${code})`
    throw new CannotCheck(`${file} ${why}.`)
  }
  const command = `${program} ${profile.base} --profile ${file}`
  process.stderr.write(`${file} holds what was discovered. Correct and complete it, then run: ${command}\n`)
  return 0
}

/** Writes the report to its file or to standard output, and the changes since an earlier report. */
async function output(
  report: Report,
  { format, output: file, save, details }: Omit<CheckCommandOptions, 'details'> & Pick<TextOptions, 'details'>,
  earlier: SavedReport | undefined,
): Promise<void> {
  const isTerminalReport = format === 'text' && file === undefined
  const color = file === undefined && process.stdout.isTTY === true && !process.env['NO_COLOR']
  const width = file === undefined ? (process.stdout.columns ?? 120) : 120
  const formats = {
    text: () => textReport(report, { color, width, details }),
    json: () => jsonReport(report),
    junit: () => junitReport(report),
    markdown: () => markdownReport(report),
    html: () => htmlReport(report),
  }
  if (file === undefined || file === '-') print(formats[format]())
  else await writeReport(file, formats[format](), '--output')
  if (save !== undefined) await writeReport(save, jsonReport(report), '--save')
  if (earlier !== undefined) {
    // Standard output may hold a report for a program.
    const stream = isTerminalReport ? process.stdout : process.stderr
    stream.write(`\n${compareReports(earlier, report)}`)
  }
  if (isTerminalReport) return
  const leftovers = leftoversOf(report).flatMap(leftoverLines)
  for (const line of leftovers) process.stderr.write(`${stripVTControlCharacters(line)}\n`)
}

async function writeReport(file: string, text: string, option: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (error) {
    throw new CannotCheck(`${option}: ${file} cannot be written (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** The first Ctrl-C stops the run, which then deletes what it created. The second one ends the process. */
function handleInterruption(ledger: Ledger): {
  readonly signal: AbortSignal
  stop(): void
  end(): void
} {
  const controller = new AbortController()
  const signals = ['SIGINT', 'SIGTERM'] as const
  const abort = () => {
    if (controller.signal.aborted) {
      const paths = [...ledger.remains].map((path) => `  ${path}\n`)
      // Synchronously, because the process ends now.
      if (paths.length > 0) writeSync(2, `Created by the check, and left behind:\n${paths.join('')}`)
      process.exit(130)
    }
    process.stderr.write('\nStopping: the check deletes what it created. Press Ctrl-C again to end now and leave it.\n')
    controller.abort()
  }
  for (const each of signals) process.on(each, abort)
  return {
    signal: controller.signal,
    stop: () => controller.abort(),
    end() {
      // After a stop, a second Ctrl-C must still end the process.
      if (!controller.signal.aborted) for (const each of signals) process.off(each, abort)
    },
  }
}

interface CheckCommandOptions {
  readonly key?: string
  readonly otherKey?: string
  readonly header: readonly string[]
  readonly openapi?: string
  readonly profile?: string
  readonly init?: true
  readonly collection: readonly string[]
  readonly readOnly?: true
  readonly yes?: true
  readonly allowChosenIds?: true
  readonly only?: string
  readonly strict?: true
  readonly details?: string
  readonly format: 'text' | 'json' | 'junit' | 'markdown' | 'html'
  readonly output?: string
  readonly save?: string
  readonly compare?: string
  readonly record?: string
  readonly insecure?: true
  readonly cacert?: string
  readonly origin?: string
  readonly concurrency?: string
  readonly seed?: string
}

/** The options, and how users call the program. */
interface CheckOptions extends CheckCommandOptions {
  readonly program: string
}

/** The server to check, and the credentials of its callers. */
interface CheckTarget {
  /** Address without credentials. */
  readonly url: string
  readonly credential: Fields
  /** The media type of representations, if the user names one. */
  readonly mediaType: string | undefined
  /** Other header fields for every request. */
  readonly fields: Fields
  /** Credential of the second caller, without permissions. */
  readonly other: Fields | undefined
}

/**
 * Reads the address and the credentials.
 *
 * @throws CannotCheck if one of them is invalid
 */
function targetOf(
  address: string,
  { key, otherKey, header }: Pick<CheckCommandOptions, 'key' | 'otherKey' | 'header'>,
): CheckTarget {
  const text = /^[a-z][a-z\d+.-]*:\/\//i.test(address) ? address : `http://${address}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    throw new CannotCheck('The address has to be an HTTP address, such as https://api.example.com/v1.')
  }
  const all = header.map(fieldFrom)
  const named = all.filter(([name]) => !isNoCredential.test(name))
  const others = all.filter(([name]) => isNoCredential.test(name))
  const isType = ([name]: readonly [string, string]) => /^(?:accept|content-type)$/i.test(name)
  const password = decodeURIComponent(url.username) + (url.password && `:${decodeURIComponent(url.password)}`)
  const authorization =
    key !== undefined
      ? `Bearer ${tokenFrom(key, '--key')}`
      : password && `Basic ${Buffer.from(password).toString('base64')}`
  url.username = ''
  url.password = ''
  return {
    url: url.href,
    credential: [...(authorization ? [['Authorization', authorization] as const] : []), ...named],
    mediaType: others.find(isType)?.[1],
    fields: others.filter((each) => !isType(each)),
    other: otherKey === undefined ? undefined : [['Authorization', `Bearer ${tokenFrom(otherKey, '--other-key')}`]],
  }
}

/** Header fields that are never credentials. */
const isNoCredential =
  /^(?:accept(?:-[a-z]+)?|content-type|user-agent|prefer|origin|referer|host|(?:x-)?(?:api|accept)-version)$/i

function tokenFrom(key: string, option: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key
  throw new CannotCheck(
    `${option} takes a key without spaces; it is sent as Authorization: Bearer. Others go with --header 'Name: value'.`,
  )
}

function fieldFrom(text: string): readonly [string, string] {
  const found = /^([\w!#$%&'*+.^`|~-]+):[ \t]*([\x20-\x7e]+)$/.exec(text.trim())
  if (found === null) throw new CannotCheck("--header takes a header field: --header 'X-API-Key: …'.")
  return [found[1] as string, (found[2] as string).trim()]
}

/**
 * The sections and rules of `--only`.
 *
 * @throws CannotCheck if there is none with a name
 */
function onlyOf(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined
  const all = new Set([...ruleSections.map(({ prefix }) => prefix), ...rules.map(({ id }) => id)])
  const named = text.split(',').flatMap((each) => each.trim().toUpperCase() || [])
  const unknown = named.find((each) => !all.has(each))
  if (unknown !== undefined || named.length === 0) {
    const advice = suggest(unknown ?? '', all)
    const start = `--only takes sections and rules, such as DEL,CON-3. There is no ${JSON.stringify(unknown ?? '')}.`
    throw new CannotCheck(`${start} ${advice}`.trim())
  }
  return named
}

/**
 * The rules and cases of `--details`.
 *
 * @throws CannotCheck if there is none with a name
 */
function detailsOf(text: string | undefined): string[] | undefined {
  const names = text?.split(',').flatMap((each) => each.trim() || [])
  const all = new Set<string>(['all', ...rules.map(({ id }) => id), ...cases.map(({ id }) => id)])
  const unknown = names?.find((each) => !all.has(each))
  if (unknown === undefined && names?.length !== 0) return names
  const start = '--details takes rules and cases, such as CON-3,MET-6/allow, or all.'
  throw new CannotCheck(`${start} There is no ${JSON.stringify(unknown ?? '')}. ${suggest(unknown ?? '', all)}`.trim())
}

/** The rules of which details are wanted; all if undefined. */
function rulesOf(details: readonly string[] | undefined): string[] | undefined {
  return details?.includes('all') ? undefined : details?.map((name) => name.split('/')[0] as string)
}

function concurrencyOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,3}$/.test(text) && Number(text) > 0) return Number(text)
  throw new CannotCheck(`--concurrency takes a number from 1 to 999, not ${JSON.stringify(text)}.`)
}

function seedOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new CannotCheck(`--seed takes the number that a report shows, not ${JSON.stringify(text)}.`)
}

function fileOf(file: string, option: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CannotCheck(`${option}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}
