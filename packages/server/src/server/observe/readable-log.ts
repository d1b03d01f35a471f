/** The log for people at a terminal: a line of text for each entry, in colour where the terminal shows colours. */
import { styleText } from 'node:util'
import { type Logger, type LogLevel, logLevels, logWith } from './log.ts'
import type { Observe } from './observe.ts'

type Style = Parameters<typeof styleText>[0]

/** Where the lines go: `process.stdout`, or a stand-in for it. */
export interface LogScreen {
  write(text: string): unknown
}

/** How the log is written. */
export interface ReadableOptions {
  readonly screen?: LogScreen
  /** Whether to write colours. By default, as the terminal, `NO_COLOR` and `FORCE_COLOR` say. */
  readonly colors?: boolean
  readonly now?: () => Date
}

/** Makes the observer that writes entries of a level, and of more severe ones. */
export function readableLog(level: LogLevel, options: ReadableOptions = {}): Observe {
  const { screen = process.stdout, colors, now = () => new Date() } = options
  const paint = (style: Style, text: string) => {
    if (colors === undefined) return styleText(style, text, { stream: process.stdout })
    return colors ? styleText(style, text, { validateStream: false }) : text
  }
  const least = logLevels.indexOf(level)
  const at = (own: keyof Logger) => (fields: object, message: string) => {
    if (logLevels.indexOf(own) < least) return
    const time = paint('dim', timeOf(now()))
    const text =
      message === 'request' ? requestText(fields as RequestFields, paint) : entryText(own, message, fields, paint)
    screen.write(`${time}  ${text}\n`)
  }
  return logWith({ debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') })
}

/** The fields of an entry about a request. */
interface RequestFields {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly code?: string
  readonly caller?: string
  readonly duration: number
}

type Paint = (style: Style, text: string) => string

function requestText({ method, path, status, code, caller, duration }: RequestFields, paint: Paint): string {
  const outcome = paint(styleOf(status), [status, code].filter((each) => each !== undefined).join(' '))
  const details = [`${duration.toFixed(duration < 10 ? 1 : 0)} ms`, caller].filter((each) => each !== undefined)
  return `${plain(method).padEnd(6)} ${plain(path)}  ${outcome}  ${paint('dim', plain(details.join('  ')))}`
}

function styleOf(status: number): Style {
  if (status >= 500) return 'red'
  if (status >= 400) return 'yellow'
  return status >= 300 ? 'cyan' : 'green'
}

const levelStyles: Readonly<Record<keyof Logger, Style>> = { debug: 'dim', info: 'cyan', warn: 'yellow', error: 'red' }

function entryText(level: keyof Logger, message: string, fields: object, paint: Paint): string {
  const {
    err,
    request_id: _,
    ...others
  } = fields as { readonly err?: { readonly stack?: string }; readonly request_id?: string }
  const members = Object.entries(others).filter(([, value]) => value !== undefined)
  const texts = members.map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const head = [`${paint(levelStyles[level], level)} ${plain(message)}`, ...texts.map(plain)].join('  ')
  const cause = err === undefined ? [] : (err.stack ?? '').split('\n')
  return [head, ...cause.map((line) => paint('dim', `  ${plain(line)}`))].join('\n')
}

/** Text without characters that could control the terminal: clients choose paths, and providers choose names. */
function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (found) => `\\u${hex(found)}`)
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')
}

/** The local time of day. */
function timeOf(moment: Date): string {
  return [moment.getHours(), moment.getMinutes(), moment.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':')
}
