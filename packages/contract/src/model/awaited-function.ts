/**
 * Calls the functions of a declaration that may await. Each has a limit of time. A function that never settles holds
 * nothing of the server after that, and one that fails too late changes nothing.
 */
import { FunctionFault, failureOf, isThenable } from './declared-function.ts'

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
