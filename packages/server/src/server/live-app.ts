/** Replaces an application while it serves: requests see the former one or the next one, and none is refused. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Application } from './app.ts'

/** The application that answers requests now. */
export interface LiveApp extends Pick<Application, 'respond' | 'refuse'> {
  readonly current: Application
  /**
   * Puts another application in the place of the current one. New requests wait meanwhile. Running ones are given two
   * seconds to end before `open` is called; those that take longer finish on the former application.
   *
   * @param open opens the next application; if it throws, the former one stays
   * @throws what `open` throws
   */
  replace(open: () => Promise<Application>): Promise<void>
  /** Closes the current application, after all former ones. */
  close(): Promise<void>
}

// A client may take minutes to send its body.
const mostForRunning = 2_000

/** Makes an application replaceable. */
export function liveApp(first: Application): LiveApp {
  let current = first
  let held: Promise<void> | undefined
  const former = new Set<Promise<void>>()
  return {
    get current() {
      return current
    },
    respond: (request) => (held === undefined ? current.respond(request) : held.then(() => current.respond(request))),
    refuse: (error, request) => current.refuse(error, request),
    async replace(open) {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      const previous = current
      try {
        await Promise.race([previous.idle(), sleep(mostForRunning, undefined, { ref: false })])
        current = await open()
      } finally {
        held = undefined
        resolve()
      }
      const closing = previous.close().finally(() => former.delete(closing))
      former.add(closing)
    },
    async close() {
      await Promise.all(former)
      await current.close()
    },
  }
}
