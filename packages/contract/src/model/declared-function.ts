/**
 * Calls the functions of a declaration: business rules, access rules, conversions of older versions. Their arguments
 * are frozen copies, and they must not return a promise. If one fails, the client gets 500, and the log names the
 * function without any value.
 *
 * Functions that may await have a limit of time. One that never settles holds nothing of the server after that, and one
 * that fails too late changes nothing.
 */

/** A function of the declaration threw, or returned something invalid. */
export class FunctionFault extends TypeError {}

/**
 * Calls a function of the declaration.
 *
 * @param place of the function in the declaration, for the log
 * @param given the arguments: their values are removed from the logged message
 * @throws FunctionFault if the function throws or returns a promise
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
  // An unhandled rejection would end the process.
  Promise.resolve(answer).catch(() => {})
  throw new FunctionFault(`${place} answered with a promise. Its answer is needed at once: write it without async.`)
}

/** Whether a value is a promise, or something like one. Reading it may throw. */
function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'then') === 'function'
}

const longestMessage = 500

/**
 * The fault for what a function of the declaration threw.
 *
 * @param given the values that are removed from its message
 */
function failureOf(place: string, given: unknown, error: unknown): FunctionFault {
  try {
    const isError = error instanceof Error
    const words = String(isError ? error.message : error).slice(0, longestMessage)
    const fault = new FunctionFault(`${place} threw ${isError ? error.name : typeof error}: ${masked(words, given)}`)
    // Only the frames: the stack begins with the message.
    const frames = isError
      ? String(error.stack)
          .split('\n')
          .filter((line) => /^ {4}at /.test(line))
      : []
    fault.stack = [`FunctionFault: ${fault.message}`, ...frames].join('\n')
    return fault
  } catch {
    return new FunctionFault(`${place} threw a value that cannot be read.`)
  }
}

/** A text without the given values. Short values are removed only as whole words. */
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

/** A deeply frozen copy of plain data. */
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
    // An assignment to `__proto__` would set the prototype.
    Object.defineProperty(copy, key, { value: copyOf(each, copies), enumerable: true })
  }
  return Object.freeze(copy)
}

/** What bounds the call of a function. */
interface Bounds {
  /** Milliseconds. */
  readonly limit: number
  /** Ends the wait when it is aborted; `undefined`: nothing does. */
  readonly abandoned?: AbortSignal | undefined
}

/** The wait for a function ended because nobody needs its result any more. */
export class AbandonedFunction extends Error {}

/**
 * Calls a function of the declaration, which may return a promise.
 *
 * @param place of the function in the declaration, for the log
 * @param given the arguments whose values are removed from the logged message
 * @param call receives a signal that is aborted when nothing waits for the function any more
 * @throws FunctionFault if the function throws, rejects or takes too long
 * @throws AbandonedFunction
 */
export async function awaitDeclared<T>(
  place: string,
  given: unknown,
  { limit, abandoned }: Bounds,
  call: (signal: AbortSignal) => T,
): Promise<Awaited<T>> {
  const ending = new AbortController()
  try {
    const answer = call(ending.signal)
    if (!isThenable(answer)) return await answer
    return settled(answer, { limit, abandoned }, ending, place, given)
  } catch (error) {
    throw failureOf(place, given, error)
  }
}

async function settled<T>(
  answer: T,
  { limit, abandoned }: Bounds,
  ending: AbortController,
  place: string,
  given: unknown,
): Promise<Awaited<T>> {
  const { promise, reject } = Promise.withResolvers<never>()
  const seconds = limit / 1_000
  const late = new FunctionFault(`${place} took more than ${seconds} second${seconds === 1 ? '' : 's'}.`)
  const end = (reason: Error) => {
    reject(reason)
    ending.abort(reason)
  }
  const timer = setTimeout(end, limit, late)
  const onAbandoned = () => end(new AbandonedFunction())
  abandoned?.addEventListener('abort', onAbandoned)
  if (abandoned?.aborted) onAbandoned()
  try {
    // Whatever becomes of the loser of a race is handled: a late rejection does not end the process.
    return await Promise.race([answer, promise])
  } catch (error) {
    if (error === late || error instanceof AbandonedFunction) throw error
    throw failureOf(place, given, error)
  } finally {
    clearTimeout(timer)
    abandoned?.removeEventListener('abort', onAbandoned)
  }
}
