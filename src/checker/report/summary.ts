/**
 * What all formats of a report share: sections, problems with their evidence (requests as commands that can be pasted
 * into a shell, and responses as lines), leftovers, and the summary.
 */
import { ruleSections } from '../../spec/rules.ts'
import type { Part } from '../case/case.ts'
import { type Asked, type Exchange, jsonOf } from '../client/exchange.ts'
import type { Difference } from '../run/census.ts'
import type { CaseResult, Report, RuleResult, Verdict } from '../run/check.ts'
import { memberPointer } from '../values/json.ts'

/** What the summary says of the rules with each verdict, in the order of reports. */
const verdictTexts: Readonly<Record<Verdict, (count: number) => string>> = {
  holds: (count) => `${count} ${count === 1 ? 'rule holds' : 'rules hold'}`,
  fails: (count) => `${count} ${count === 1 ? 'fails' : 'fail'}`,
  advice: (count) => `${count} to consider`,
  blocked: (count) => `${count} blocked by others`,
  'not set up': (count) => `${count} could not be set up`,
  'not applicable': (count) => `${count} not applicable`,
  'not asked': (count) => `${count} not asked`,
}

/** The verdicts of rules, each with the number of rules that have it. */
export function countsOf({ rules }: Pick<Report, 'rules'>): readonly (readonly [verdict: Verdict, count: number])[] {
  return (Object.keys(verdictTexts) as Verdict[])
    .map((verdict) => [verdict, rules.filter((rule) => rule.verdict === verdict).length] as const)
    .filter(([, count]) => count > 0)
}

/** Whether a rule that must hold does not. */
export function hasFailed({ rules }: Pick<Report, 'rules'>): boolean {
  return rules.some(({ cases }) => cases.some(({ verdict, level }) => verdict === 'fails' && level === 'must'))
}

/** Whether responses showed that a rule or case holds, or that it does not. */
export function isObserved({ verdict }: { readonly verdict: Verdict }): boolean {
  return verdict === 'holds' || isProblem({ verdict })
}

function isProblem({ verdict }: { readonly verdict: Verdict }): boolean {
  return verdict === 'fails' || verdict === 'advice'
}

/** The sections of a report with their rules. */
export function sectionsOf({ rules }: Pick<Report, 'rules'>) {
  return ruleSections
    .map(({ prefix, title }) => ({ prefix, title, rules: rules.filter(({ rule }) => rule.section === prefix) }))
    .filter((section) => section.rules.length > 0)
}

/** How many of a rule's cases hold. */
export function holdingCases({ cases }: RuleResult): number {
  return cases.filter(({ verdict }) => verdict === 'holds').length
}

/** A case that does not hold, with its evidence. */
export interface Problem {
  readonly rule: RuleResult['rule']
  readonly found: CaseResult
  /** Where the rule comes from. */
  readonly source: string
  /** The requests of the case as commands of a shell. */
  readonly commands: readonly string[]
  readonly findings: readonly Evidence[]
}

/** A finding, with the response that shows it. */
export interface Evidence {
  /** The step that sent the request. */
  readonly step: string | undefined
  readonly message: string
  readonly lines: readonly Line[]
}

const weights = { must: 0, should: 1, may: 2 }

/** All cases that do not hold, those of rules that must hold first. */
export function problemsOf({ rules }: Pick<Report, 'rules'>): Problem[] {
  return rules
    .flatMap(({ rule, cases }) => cases.filter(isProblem).map((found) => problemOf(rule, found)))
    .sort((left, right) => weights[left.found.level] - weights[right.found.level])
}

/** The evidence of a case that does not hold. */
export function problemOf(rule: RuleResult['rule'], found: CaseResult): Problem {
  const source =
    rule.mark === 'specification'
      ? 'the specification'
      : rule.mark === 'decision'
        ? 'settled where the specification is silent'
        : 'beyond the specification'
  const findings = found.findings.map(({ exchange, part, message }) => ({
    ...{ step: exchange?.step, message },
    lines: exchange === undefined ? [] : responseLines(exchange, part),
  }))
  return { rule, found, source, commands: commandsOf(found), findings }
}

/** Each request once, with the number of times it was sent. */
function commandsOf({ exchanges }: CaseResult): string[] {
  const times = new Map<string, number>()
  for (const { asked } of exchanges) {
    const command = commandOf(asked)
    times.set(command, (times.get(command) ?? 0) + 1)
  }
  return [...times].map(([command, count]) => (count === 1 ? command : `${command}   # ${count} times`))
}

/** The lines of a response as text. A mark stands before those that show the problem. */
export function markedLines({ lines }: Evidence): string[] {
  return lines.map(({ text, marked }) => `${marked ? '> ' : '  '}${text}`)
}

/** A summary in one line: `41 rules hold, 3 fail, …`. */
export function summaryLine(report: Pick<Report, 'rules'>): string {
  return countsOf(report)
    .map(([verdict, count]) => verdictTexts[verdict](count))
    .join(', ')
}

/** Something that the run left on the server. */
interface Leftover {
  readonly message: string
  /** Paths from the root. */
  readonly paths: readonly string[]
}

/**
 * The records that exist after the run and did not exist before. Empty if the server has the same records as before.
 */
export function leftoversOf({ remains, jobs, differences }: Report): readonly Leftover[] {
  // The server deletes jobs itself, so a few examples are enough.
  const someJobs = jobs.length <= 4 ? jobs : [...jobs.slice(0, 3), `… ${jobs.length - 3} more`]
  const undeleted = { message: `Created by the check, and could not be deleted (${remains.length})`, paths: remains }
  const message = `Jobs and exports that the check started and could not delete (${jobs.length})`
  return [
    ...(remains.length === 0 ? [] : [undeleted]),
    ...differences.map((each) => ({ message: differenceText(each), paths: each.unexplained })),
    ...(jobs.length === 0 ? [] : [{ message, paths: someJobs }]),
  ]
}

/** The lines of a leftover as text: the message, then its paths. */
export function leftoverLines({ message, paths }: Leftover): string[] {
  return [`${message}${paths.length === 0 ? '' : ':'}`, ...paths.map((path) => `  ${path}`)]
}

function differenceText({ collection, before, after, created, unexplained }: Difference): string {
  const isMore = after !== undefined && before !== undefined && after > before
  const parts = [
    ...(created.length === 0 ? [] : [`${created.length} listed above`]),
    ...(unexplained.length === 0 ? [] : [`probably the check's: ${unexplained.length}`]),
  ]
  const cause =
    parts.length > 0 ? parts.join('; ') : `${isMore ? 'created' : 'changed'} by others, as far as can be seen`
  return `${collection}: ${countText(before, after)}; ${cause}`
}

function countText(before: number | undefined, after: number | undefined): string {
  if (before === undefined || after === undefined) return 'the records could not be counted before and after'
  const difference = Math.abs(after - before)
  if (difference === 0) return `as many records as before (${before}), but not the same`
  const counted = difference === 1 ? '1 record' : `${difference} records`
  return `${counted} ${after > before ? 'more' : 'fewer'} than before (${before}, now ${after})`
}

/** A request as one line of shell: `curl`, or the bytes themselves if no HTTP client would send them. */
export function commandOf(asked: Asked): string {
  return asked.bytes === undefined ? curlCommand(asked) : bytesCommand(asked, asked.bytes)
}

const mostCharacters = 2_000

function shortened(text: string): string {
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text
}

function curlCommand({ method, url, fields, body }: Asked): string {
  const words = ['curl', '-i', '--path-as-is', '-g']
  if (method === 'HEAD') words.push('-I')
  else if (method !== (body === undefined ? 'GET' : 'POST')) words.push('-X', method)
  for (const [name, value] of fields) words.push('-H', quoted(value === '' ? `${name};` : `${name}: ${value}`))
  if (body !== undefined) words.push('--data-raw', quoted(shortened(body)))
  return [...words, quoted(url)].join(' ')
}

function bytesCommand({ url }: Asked, bytes: string): string {
  // What follows the authority may be invalid on purpose.
  const [, protocol, host = '', port] = /^(https?):\/\/(\[[^\]]*\]|[^:/?# ]*)(?::(\d+))?/.exec(url) ?? []
  const connection =
    protocol === 'https'
      ? `openssl s_client -quiet -connect ${host}:${port ?? '443'}`
      : `nc ${host.replaceAll(/[[\]]/g, '')} ${port ?? '80'}`
  return `printf ${quoted([...shortened(bytes)].map(printfEscaped).join(''))} | ${connection}`
}

function printfEscaped(character: string): string {
  if (character === '\r') return '\\r'
  if (character === '\n') return '\\n'
  if (character === '\\' || character === '%') return character + character
  const code = character.charCodeAt(0)
  return code < 32 || code > 126 ? `\\${code.toString(8).padStart(3, '0')}` : character
}

/** A word of a shell. The shell replaces the variables of credentials in it, and nothing else. */
function quoted(text: string): string {
  if (/\$(?:OTHER_)?KEY\d*/.test(text)) {
    return `"${text.replaceAll(/[\\"`]|\$(?!(?:OTHER_)?KEY)/g, (character) => `\\${character}`)}"`
  }
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** A line of a response. */
interface Line {
  readonly text: string
  /** Whether it shows the problem. */
  readonly marked: boolean
}

const mostLines = 40
const widest = 200

/** A response as lines, those of the wrong part marked. */
export function responseLines({ answer, failure }: Exchange, part: Part): Line[] {
  if (answer === undefined) return [{ text: failure ?? 'no response', marked: true }]
  const name = typeof part === 'object' && 'field' in part ? part.field.toLowerCase() : undefined
  return [
    line(`HTTP/${answer.version} ${answer.status}`, part === 'status' || part === 'connection'),
    ...answer.fields.map(([each, value]) => line(`${each}: ${value}`, each.toLowerCase() === name)),
    ...(answer.body === '' ? [] : [line('', false), ...bodyLines(answer, part)]),
  ]
}

function bodyLines(answer: NonNullable<Exchange['answer']>, part: Part): Line[] {
  const pointer = typeof part === 'object' && 'pointer' in part ? part.pointer : undefined
  const value = jsonOf(answer)
  const lines =
    value === undefined ? answer.body.split('\n').map((text) => line(text, false)) : jsonLines(value, pointer)
  const all = part === 'body' ? lines.map((each) => ({ ...each, marked: true })) : lines
  if (all.length <= mostLines) return all
  const first = all.findIndex(({ marked }) => marked)
  const start = first < mostLines ? 0 : first - mostLines / 2
  const rest = all.length - start - mostLines
  return [
    ...(start > 0 ? [line(`… ${start} lines`, false)] : []),
    ...all.slice(start, start + mostLines),
    ...(rest > 0 ? [line(`… ${rest} lines more`, false)] : []),
  ]
}

function line(text: string, marked: boolean): Line {
  return { text: text.length > widest ? `${text.slice(0, widest)} …` : text, marked }
}

/** JSON with one member a line. Marks the value at a pointer; if there is none, the first line. */
function jsonLines(value: unknown, pointer: string | undefined): Line[] {
  const lines: Line[] = []
  const write = (each: unknown, at: string, before: string, after: string, isInside: boolean) => {
    const marked = isInside || at === pointer
    const indent = '  '.repeat(at.split('/').length - 1)
    if (typeof each !== 'object' || each === null || Object.keys(each).length === 0) {
      lines.push(line(`${indent}${before}${JSON.stringify(each)}${after}`, marked))
      return
    }
    const isArray = Array.isArray(each)
    lines.push(line(`${indent}${before}${isArray ? '[' : '{'}`, marked))
    const entries = Object.entries(each)
    for (const [index, [name, inner]] of entries.entries()) {
      const comma = index < entries.length - 1 ? ',' : ''
      write(inner, at + memberPointer(name), isArray ? '' : `${JSON.stringify(name)}: `, comma, marked)
    }
    lines.push(line(`${indent}${isArray ? ']' : '}'}${after}`, marked))
  }
  write(value, '', '', '', false)
  if (pointer === undefined || lines.some(({ marked }) => marked)) return lines
  return lines.map((each, index) => (index === 0 ? { ...each, marked: true } : each))
}
