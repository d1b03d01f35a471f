/** `resourced check URL`: how far a server keeps the rules, whoever made it. */

import { writeSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { stripVTControlCharacters } from 'node:util'
import { cases } from '../checker/cases/cases.ts'
import { Client } from '../checker/client/client.ts'
import { hideSecrets } from '../checker/client/credentials.ts'
import { type Discovered, discover } from '../checker/discovery/discover.ts'
import { tryCollections } from '../checker/discovery/try-collections.ts'
import { CannotCheck } from '../checker/profile/profile.ts'
import { type PartialProfile, readProfile, writeProfile } from '../checker/profile/profile-file.ts'
import { htmlReport } from '../checker/report/html.ts'
import { compareReports, jsonReport } from '../checker/report/json.ts'
import { junitReport } from '../checker/report/junit.ts'
import { markdownReport } from '../checker/report/markdown.ts'
import { hasFailed, isObserved, leftoverLines, leftoversOf } from '../checker/report/summary.ts'
import { textReport } from '../checker/report/text.ts'
import { recordPaths, takeCensus } from '../checker/run/census.ts'
import { check, type Report, withDependencies } from '../checker/run/check.ts'
import { Ledger } from '../checker/run/ledger.ts'
import { type CheckOptions, concurrencyOf, fileOf, onlyOf, type Whom, whomOf } from './check-options.ts'
import { isConfirmed, planLines } from './check-plan.ts'
import { explain } from './explain.ts'
import { type Progress, print, showProgress } from './terminal.ts'

/**
 * Checks a server. The exit code is 0 where all that must be so is, 1 where something is not, 2 where the server or the
 * command line cannot be used, and 130 where it was stopped.
 */
export async function checkCommand(address: string, options: CheckOptions): Promise<void> {
  let hide = (text: string) => text
  try {
    const whom = whomOf(address, options)
    hide = hideSecrets([whom.credential, whom.other])
    process.exitCode = await checked(whom, options, hide)
  } catch (error) {
    process.stderr.write(`${hide(error instanceof CannotCheck ? error.message : explain(error))}\n`)
    process.exitCode = 2
  }
}

type Hide = (text: string) => string

async function checked(whom: Whom, options: CheckOptions, hide: Hide): Promise<number> {
  const only = onlyOf(options.only)
  const before = options.compare === undefined ? undefined : earlierReport(options.compare)
  const said = saidOf(options)
  const interrupted = interruption()
  const progress = showProgress({ title: 'Checking', unit: 'cases' })
  const client = new Client({
    concurrency: concurrencyOf(options.concurrency),
    insecure: options.insecure,
    ca: options.cacert === undefined ? undefined : fileOf(options.cacert, '--cacert'),
    signal: interrupted.signal,
    onPause: pauseTeller(progress),
  })
  try {
    const requester = { client, credential: whom.credential, signal: interrupted.signal }
    const wanted = { url: whom.url, openapi: options.openapi, only: options.collection, given: said }
    const found = await discover(requester, wanted).catch((error: unknown) => {
      // What was cut short says nothing about the server.
      if (interrupted.signal.aborted) return undefined
      throw error
    })
    if (found === undefined || interrupted.signal.aborted) return 130
    if (options.init) return await init(found, options, hide)
    const report = await run(found, {
      ...{ whom, options, only, client, said, progress, signal: interrupted.signal, hide },
      onLedger: interrupted.follow,
    })
    if (report === undefined) return interrupted.signal.aborted ? 130 : 2
    await tell(report, options, before)
    if (report.stopped) return 130
    if (!wasSeen(report)) {
      process.stderr.write('Nothing could be seen of any rule: the report says why, rule by rule.\n')
      return 2
    }
    return hasFailed(report) ? 1 : 0
  } finally {
    progress.end()
    interrupted.stop()
    client.close()
  }
}

/** Says once that the server wants a pause, however many requests are told so. */
function pauseTeller(progress: Progress): (seconds: number) => void {
  let until = 0
  return (seconds) => {
    const now = performance.now()
    if (now >= until) progress.say(`The server wants a pause of ${Math.ceil(seconds)} s (429), and gets it.`)
    until = Math.max(until, now + seconds * 1_000)
  }
}

function wasSeen({ rules }: Report): boolean {
  return rules.some(({ cases }) => cases.some(isObserved))
}

interface Running {
  readonly whom: Whom
  readonly options: CheckOptions
  readonly only: readonly string[] | undefined
  readonly client: Client
  readonly said: PartialProfile
  readonly progress: Progress
  readonly signal: AbortSignal
  readonly hide: Hide
  /** Told of what notes all that is created. */
  readonly onLedger: (ledger: Ledger) => void
}

/** Asks whether it may, tries what it takes to make records, and runs the cases; `undefined` where it may not. */
async function run({ profile, notices, guessed }: Discovered, running: Running): Promise<Report | undefined> {
  const { whom, options, only, client, progress, signal, hide } = running
  const readOnly = options.readOnly === true
  const planned = {
    ...{ profile, cases: withDependencies(cases, only) },
    ...{ hasKey: whom.credential.length > 0, hasOther: whom.other !== undefined },
  }
  for (const line of planLines(planned, notices, readOnly)) progress.say(hide(line))
  if (!readOnly && options.yes !== true && !(await isConfirmed(signal))) return undefined
  const ledger = new Ledger().watch(client)
  running.onLedger(ledger)
  const requester = { client, credential: whom.credential }
  const before = readOnly ? undefined : await takeCensus(requester, profile)
  // What was there is known before anything is sent that could change it.
  for (const path of before === undefined ? [] : recordPaths(profile, before)) ledger.foreign.add(path)
  const tried = readOnly
    ? { profile, notices: [] }
    : await tryCollections(
        { client, credential: whom.credential, signal },
        { ...planned, guessed, other: whom.other, ledger },
      )
  for (const notice of signal.aborted ? [] : tried.notices) progress.say(hide(`! ${notice}`))
  const report = await check({
    ...{ profile: tried.profile, client, credential: whom.credential, other: whom.other, readOnly, only, signal },
    ...{ ledger, before },
    onResult: (_, done, all) => progress.update(done, done / all),
  })
  progress.end()
  return report
}

function saidOf({ profile, origin, allowChosenIds }: CheckOptions): PartialProfile {
  const read = profile === undefined ? {} : readProfile(fileOf(profile, '--profile'), profile)
  const said = allowChosenIds === true ? { ...read, allowChosenIds } : read
  if (origin === undefined) return said
  if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
    throw new CannotCheck('--origin takes an origin, such as https://app.example.com.')
  }
  return { ...said, origin }
}

function earlierReport(file: string): unknown {
  try {
    const report: unknown = JSON.parse(fileOf(file, '--compare'))
    compareReports(report, { rules: [] })
    return report
  } catch (error) {
    if (error instanceof CannotCheck) throw error
    throw new CannotCheck(`--compare: ${file} is no report that --save wrote.`)
  }
}

const usualProfile = 'resourced-check.yaml'

async function init(
  { profile, notices }: Discovered,
  { output = usualProfile }: CheckOptions,
  hide: Hide,
): Promise<number> {
  const text = hide(writeProfile(profile, notices, new Date()))
  if (output === '-') {
    print(text)
    return 0
  }
  try {
    // What somebody has completed is not written over.
    await writeFile(output, text, { flag: 'wx' })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'EEXIST' ? 'is there already; name another with --output FILE' : `cannot be written (${code})`
    throw new CannotCheck(`${output} ${why}.`)
  }
  process.stderr.write(
    `${output} says what was found. Correct and complete it, then: resourced check ${profile.base} --profile ${output}\n`,
  )
  return 0
}

/** Writes the report where it is wanted, and what has changed since an earlier one. */
async function tell(report: Report, { format, output, save }: CheckOptions, before: unknown): Promise<void> {
  const isColored = output === undefined && process.stdout.isTTY === true && !process.env['NO_COLOR']
  const width = output === undefined ? (process.stdout.columns ?? 120) : 120
  const texts = {
    text: () => textReport(report, { color: isColored, width }),
    json: () => jsonReport(report),
    junit: () => junitReport(report),
    markdown: () => markdownReport(report),
    html: () => htmlReport(report),
  }
  if (output === undefined || output === '-') print(texts[format]())
  else await written(output, texts[format](), '--output')
  if (save !== undefined) await written(save, jsonReport(report), '--save')
  if (before !== undefined) {
    // What is for programs stays what it is.
    const told = format === 'text' && output === undefined ? process.stdout : process.stderr
    told.write(`\n${compareReports(before, report)}`)
  }
  if (format === 'text' && output === undefined) return
  const leftovers = leftoversOf(report).flatMap((each) => leftoverLines(each))
  for (const line of leftovers) process.stderr.write(`${stripVTControlCharacters(line)}\n`)
}

async function written(file: string, text: string, option: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (error) {
    throw new CannotCheck(`${option}: ${file} cannot be written (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** The first Ctrl-C ends the run, and what it has made is taken away; a second one ends the process. */
function interruption(): { readonly signal: AbortSignal; follow(ledger: Ledger): void; stop(): void } {
  const controller = new AbortController()
  let followed: Ledger | undefined
  const abort = () => {
    if (controller.signal.aborted) {
      const left = [...(followed?.remains ?? [])].map((path) => `  ${path}\n`)
      // Written before the process ends, whatever standard error is.
      if (left.length > 0) writeSync(2, `Created by the check, and left behind:\n${left.join('')}`)
      process.exit(130)
    }
    process.stderr.write('\nStopping: what was made is taken away. Once more ends at once, and leaves it.\n')
    controller.abort()
  }
  for (const each of ['SIGINT', 'SIGTERM'] as const) process.on(each, abort)
  return {
    signal: controller.signal,
    follow(ledger) {
      followed = ledger
    },
    stop() {
      // Who has stopped it may do so once more until it has ended.
      if (controller.signal.aborted) return
      for (const each of ['SIGINT', 'SIGTERM'] as const) process.off(each, abort)
    },
  }
}
