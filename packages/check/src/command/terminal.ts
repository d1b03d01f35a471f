/** What commands write: results to standard output; messages and the progress of long work to standard error. */
import { createInterface } from 'node:readline/promises'
import { styleText } from 'node:util'

/** Prints a result. If the reader closes the pipe, as `head` does, the command ends without an error. */
export function print(text: string): void {
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', endOutput)
  process.stdout.write(text)
}

function endOutput({ code = 'unknown error' }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') process.exit()
  const reason = code === 'ENOSPC' ? 'the disk is full' : code
  say(`Standard output cannot be written: ${reason}.`)
  process.exit(1)
}

/** Writes a message for people. Results of a command go to `print`. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

export function hasTerminal(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/**
 * Asks for a confirmation on the terminal. Everything but y and yes means no.
 *
 * @param signal withdraws the question
 */
export async function confirm(question: string, signal?: AbortSignal): Promise<boolean> {
  // Without `terminal`, the system handles Ctrl-C, as it does before and after the question.
  const reader = createInterface({ input: process.stdin, output: process.stderr, terminal: false })
  const { promise: ended, resolve } = Promise.withResolvers<string>()
  reader.once('close', () => resolve(''))
  try {
    const answer = await Promise.race([reader.question(question, signal ? { signal } : {}), ended])
    return /^y(?:es)?$/i.test(answer.trim())
  } catch {
    return false
  } finally {
    reader.close()
  }
}

/** A signal of the first Ctrl-C, for work that can end cleanly. The second Ctrl-C ends the process. */
export function interruption(): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController()
  const abort = () => controller.abort()
  process.once('SIGINT', abort)
  return { signal: controller.signal, stop: () => process.off('SIGINT', abort) }
}

/** A stream to show progress on, such as `process.stderr`. */
export interface Screen {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

export interface ProgressOptions {
  /** What is being done: `Importing cities`. */
  readonly title: string
  /** What is counted: `records`. */
  readonly unit: string
  readonly screen?: Screen
  /** Milliseconds. */
  readonly clock?: () => number
}

export interface Progress {
  /**
   * Shows how far the work is.
   *
   * @param count how many units are done
   * @param part of the whole, 0 to 1; `undefined` if the whole is unknown
   */
  update(count: number, part: number | undefined): void
  /** Writes a line above the bar. */
  say(line: string): void
  /** Removes the bar. */
  end(): void
}

const barWidth = 30
const everyOnTerminal = 80
const everyElsewhere = 3_000

/**
 * Shows progress: a bar on a terminal, a line every few seconds elsewhere. No timer redraws it, so stalled work is
 * visible.
 */
export function showProgress(options: ProgressOptions): Progress {
  const { title, unit, screen = process.stderr, clock = () => performance.now() } = options
  const terminal = screen.isTTY === true
  const started = clock()
  let last = terminal ? Number.NEGATIVE_INFINITY : started
  let isVisible = false
  const clear = () => {
    if (isVisible) screen.write('\r\x1b[K')
    isVisible = false
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
      isVisible = true
    },
    say(line) {
      clear()
      screen.write(`${line}\n`)
    },
    end: clear,
  }
}

/** One line that fits the terminal: a wrapped line could not be erased. */
function fit(title: string, filled: number | undefined, line: string, columns: number): string {
  const bar = filled === undefined ? 0 : barWidth + 2
  if (title.length + 2 + bar + line.length >= columns) return `${title}  ${line}`.slice(0, columns - 1)
  if (filled === undefined) return `${title}  ${line}`
  const drawn = styleText('cyan', '━'.repeat(filled)) + styleText('dim', '━'.repeat(barWidth - filled))
  return `${title}  ${drawn}  ${line}`
}

/** A count with its noun: `1 record`, `138,398 records`. */
export function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${format(count)} ${noun}s`
}

/** A count with separators: `138,398`. */
export function format(count: number): string {
  return count.toLocaleString('en')
}
