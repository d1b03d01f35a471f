/**
 * Calls the functions of a declaration: checks of business rules, access rules, conversions of older versions. They are given copies
 * that cannot change, and answer at once. What they do wrong is a fault of the declaration: 500 to the client, and an entry in the log
 * that names the function and no value.
 */

/** A function of the declaration threw, or answered what it may not answer. */
export class FunctionFault extends TypeError {}

/**
 * Calls a function of the declaration.
 *
 * @param place of the function in the declaration, for the log
 * @param given what the function is given: its message is logged without the values in it
 * @throws FunctionFault where it throws, or answers with a promise
 */
export function callDeclared<T>(place: string, given: unknown, call: () => T): T {
  let isPromise: boolean
  let answer: T
  try {
    answer = call()
    isPromise = isThenable(answer)
  } catch (error) {
    if (error instanceof FunctionFault) throw error
    throw failureOf(place, given, error)
  }
  if (!isPromise) return answer
  // A rejection that nobody handles would end the process.
  Promise.resolve(answer).catch(() => {})
  throw new FunctionFault(`${place} answered with a promise. Its answer is needed at once: write it without async.`)
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'then') === 'function'
}

const longestMessage = 500

function failureOf(place: string, given: unknown, error: unknown): FunctionFault {
  try {
    const isError = error instanceof Error
    const words = String(isError ? error.message : error).slice(0, longestMessage)
    const fault = new FunctionFault(`${place} threw ${isError ? error.name : typeof error}: ${masked(words, given)}`)
    // The frames alone: the stack of an error begins with its message.
    const frames = isError
      ? String(error.stack)
          .split('\n')
          .filter((line) => /^ {4}at /.test(line))
      : []
    fault.stack = [`FunctionFault: ${fault.message}`, ...frames].join('\n')
    return fault
  } catch {
    return new FunctionFault(`${place} threw what cannot be read.`)
  }
}

/** A text without the values in it. Short ones are only taken out where they stand as words: they are part of any text. */
function masked(text: string, given: unknown): string {
  const texts = new Set<string>()
  collectTexts(given, texts, new Set())
  const found = [...texts].filter((each) => text.includes(each)).sort((left, right) => right.length - left.length)
  return found.reduce((rest, value) => {
    if (value.length >= 4) return rest.replaceAll(value, mask)
    return rest.replaceAll(new RegExp(`(?<![\\p{L}\\p{N}_])${RegExp.escape(value)}(?![\\p{L}\\p{N}_])`, 'gu'), mask)
  }, text)
}

const mask = '***'

function collectTexts(value: unknown, texts: Set<string>, seen: Set<object>): void {
  if (typeof value === 'string' && value !== '') texts.add(value)
  else if (typeof value === 'number') texts.add(String(value))
  else if (typeof value === 'object' && value !== null && !seen.has(value)) {
    seen.add(value)
    for (const each of Object.values(value)) collectTexts(each, texts, seen)
  }
}

/** A copy of plain data that cannot be changed, all the way down. */
export function frozenCopy<T>(value: T): T {
  return copyOf(value, new Map()) as T
}

function copyOf(value: unknown, copies: Map<object, object>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const known = copies.get(value)
  if (known !== undefined) return known
  const copy: object = Array.isArray(value) ? [] : {}
  copies.set(value, copy)
  for (const [key, each] of Object.entries(value)) {
    // Not by assignment: `__proto__` would be another thing.
    Object.defineProperty(copy, key, { value: copyOf(each, copies), enumerable: true })
  }
  return Object.freeze(copy)
}

const callers = new WeakMap<object, object>()

/** A frozen copy that is made once and kept with its original, which must not change: callers live as long as their credential. */
export function frozenOnce<T extends object>(value: T): T {
  const copy = callers.get(value) ?? frozenCopy(value)
  callers.set(value, copy)
  return copy as T
}
