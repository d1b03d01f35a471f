/** Finds the elements of a JSON array, or the lines of NDJSON, while they arrive. Parsing them is another matter. */

/** The text of one element. */
export interface Element {
  /** Where it begins, counted from 1. */
  readonly line: number
  readonly text: string
  /** Why it cannot be read. */
  readonly wrong?: string
}

/** Takes the next piece of a text, and returns the elements that end in it; with `isLast`, all that remain. */
type ReadElements = (text: string, isLast?: boolean) => Element[]

/** The longest element, in characters: what is longer has a bracket or a quote that nothing closes. */
const longestElement = 4_000_000

const notClosed = 'The record that begins here does not end.'

/** Reads the lines of NDJSON that are not blank. */
export function lineReader(): ReadElements {
  let rest = ''
  let line = 0
  let isBroken = false
  return (text, isLast = false) => {
    if (isBroken) return []
    const lines = (rest + text).split('\n')
    rest = isLast ? '' : (lines.pop() ?? '')
    const found: Element[] = lines.flatMap((text) => {
      line += 1
      return text.trim() === '' ? [] : [{ line, text: text.trim() }]
    })
    isBroken = rest.length > longestElement
    if (isBroken) found.push({ line: line + 1, text: '', wrong: notClosed })
    return found
  }
}

/** Reads the elements of an array. It counts brackets and skips strings; their parser says whether they are JSON. */
export function arrayReader(): ReadElements {
  let element = ''
  let depth = 0
  let isString = false
  let isEscaped = false
  let line = 1
  let hasEnded = false
  let isBroken = false
  return (text, isLast = false) => {
    if (isBroken) return []
    const found: Element[] = []
    let from = 0
    const end = (at: number, wrong?: string) => {
      element += text.slice(from, at)
      from = at + 1
      const content = element.trim()
      // The present line is the one where the element ends.
      const begin = line - (element.trimStart().split('\n').length - 1)
      if (content !== '') found.push({ line: begin, text: content, ...(wrong !== undefined && { wrong }) })
      element = ''
    }
    for (let at = 0; at < text.length; at += 1) {
      const character = text.charAt(at)
      if (isString) {
        if (isEscaped) isEscaped = false
        else if (character === '\\') isEscaped = true
        else if (character === '"') isString = false
      } else if (character === '"') isString = true
      else if (character === '{' || character === '[') {
        depth += 1
        if (depth === 1) from = at + 1
      } else if (character === '}' || character === ']') {
        depth -= 1
        if (depth === 0) {
          end(at)
          hasEnded = true
        }
      } else if (character === ',' && depth === 1) end(at)
      if (character === '\n') line += 1
    }
    isBroken = element.length + text.length - from > longestElement
    if (isBroken) end(text.length, notClosed)
    else if (!isLast) element += text.slice(from)
    else if (hasEnded) end(text.length, 'Nothing may follow the array.')
    else found.push({ line, text: '', wrong: 'The file ends before its array does.' })
    return found
  }
}
