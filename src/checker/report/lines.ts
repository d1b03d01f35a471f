/** An answer as lines, and which of them show what is wrong. */
import type { Part } from '../case/case.ts'
import type { Exchange } from '../client/exchange.ts'
import { jsonOf } from '../client/exchange.ts'

/** A line of what was received. */
export interface Line {
  readonly text: string
  /** Whether it is what is wrong. */
  readonly marked: boolean
}

const mostLines = 40
const widest = 200

/** The answer of an exchange. */
export function answerLines({ answer, failure }: Exchange, part?: Part): Line[] {
  if (answer === undefined) return [{ text: failure ?? 'no answer', marked: true }]
  const name = typeof part === 'object' && 'field' in part ? part.field.toLowerCase() : undefined
  return [
    line(`HTTP/${answer.version} ${answer.status}`, part === 'status' || part === 'connection'),
    ...answer.fields.map(([each, value]) => line(`${each}: ${value}`, each.toLowerCase() === name)),
    ...(answer.body === '' ? [] : [line('', false), ...bodyLines(answer, part)]),
  ]
}

function bodyLines(answer: NonNullable<Exchange['answer']>, part?: Part): Line[] {
  const pointer = typeof part === 'object' && 'pointer' in part ? part.pointer : undefined
  const value = jsonOf(answer)
  const lines =
    value === undefined ? answer.body.split('\n').map((text) => line(text, false)) : jsonLines(value, pointer)
  const all = part === 'body' ? lines.map((each) => ({ ...each, marked: true })) : lines
  if (all.length <= mostLines) return all
  // What is wrong is shown, wherever it stands.
  const at = Math.max(
    0,
    all.findIndex(({ marked }) => marked),
  )
  const start = at < mostLines ? 0 : at - mostLines / 2
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

/** JSON with a member a line; the one at a pointer is marked, with all that it holds, or where it should be. */
function jsonLines(value: unknown, pointer: string | undefined): Line[] {
  const lines: Line[] = []
  let found = false
  const write = (each: unknown, at: string, before: string, after: string, indent: string, isMarked: boolean) => {
    const marked = isMarked || at === pointer
    if (marked) found = true
    if (typeof each !== 'object' || each === null || Object.keys(each).length === 0) {
      lines.push(line(`${indent}${before}${JSON.stringify(each)}${after}`, marked))
      return
    }
    const isArray = Array.isArray(each)
    lines.push(line(`${indent}${before}${isArray ? '[' : '{'}`, marked))
    const entries = Object.entries(each)
    for (const [index, [name, inner]] of entries.entries()) {
      const comma = index < entries.length - 1 ? ',' : ''
      const token = name.replaceAll('~', '~0').replaceAll('/', '~1')
      write(inner, `${at}/${token}`, isArray ? '' : `${JSON.stringify(name)}: `, comma, `${indent}  `, marked)
    }
    lines.push(line(`${indent}${isArray ? ']' : '}'}${after}`, marked))
  }
  write(value, '', '', '', '', false)
  if (pointer === undefined || found) return lines
  return lines.map((each, index) => (index === 0 ? { ...each, marked: true } : each))
}
