/** How far long work has come: a bar on a terminal, a line every few seconds elsewhere. */
import { styleText } from 'node:util'

/** Where progress is shown; `process.stderr` is one. */
export interface Screen {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

/** What is shown. */
export interface ProgressOptions {
  /** What is being done: `Importing cities`. */
  readonly title: string
  /** What is counted: `records`. */
  readonly unit: string
  readonly screen?: Screen
  /** Milliseconds. */
  readonly clock?: () => number
}

/** Progress being shown. */
export interface Progress {
  /**
   * Tells how far the work is.
   *
   * @param count how many units are done
   * @param part of the whole, 0 to 1; `undefined` where the whole is not known
   */
  update(count: number, part: number | undefined): void
  /** Writes a line of its own, above the bar. */
  say(line: string): void
  /** Takes the bar away. */
  end(): void
}

const barWidth = 30
const everyOnTerminal = 80
const everyElsewhere = 3_000

/** Shows progress on standard error. It reads nothing from the terminal, and sets no timer: work that stands still shows. */
export function showProgress(options: ProgressOptions): Progress {
  const { title, unit, screen = process.stderr, clock = () => performance.now() } = options
  const terminal = screen.isTTY === true
  const started = clock()
  let last = terminal ? Number.NEGATIVE_INFINITY : started
  let shown = false
  const clear = () => {
    if (shown) screen.write('\r\x1b[K')
    shown = false
  }
  return {
    update(count, part) {
      const now = clock()
      if (now - last < (terminal ? everyOnTerminal : everyElsewhere)) return
      last = now
      const rate = Math.round((count / Math.max(now - started, 1)) * 1_000)
      const percent = part === undefined ? '' : `${String(Math.floor(part * 100)).padStart(3)} %  `
      const line = `${percent}${format(count)} ${unit}  ${format(rate)}/s`
      if (!terminal) {
        screen.write(`${title}: ${line.trim()}\n`)
        return
      }
      clear()
      screen.write(fit(title, part === undefined ? undefined : Math.round(part * barWidth), line, screen.columns ?? 80))
      shown = true
    },
    say(line) {
      clear()
      screen.write(`${line}\n`)
    },
    end: clear,
  }
}

/** One line, never longer than the terminal is wide: a wrapped line could not be taken back. */
function fit(title: string, filled: number | undefined, line: string, columns: number): string {
  const bar = filled === undefined ? 0 : barWidth + 2
  if (title.length + 2 + bar + line.length >= columns) return `${title}  ${line}`.slice(0, columns - 1)
  if (filled === undefined) return `${title}  ${line}`
  const drawn = styleText('cyan', '━'.repeat(filled)) + styleText('dim', '━'.repeat(barWidth - filled))
  return `${title}  ${drawn}  ${line}`
}

/** A count as people read it: `138,398`. */
export function format(count: number): string {
  return count.toLocaleString('en')
}
