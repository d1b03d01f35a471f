/**
 * Finds workers whose event loop stands still: because of an endless loop, for example, or because the process was
 * stopped. A supervisor that is stopped together with its workers, such as on a laptop that sleeps, counts nothing
 * meanwhile: what counts are its own rounds, not the clock.
 */

/** The time from one round to the next, in milliseconds. */
export const roundTime = 1_000

/** A worker that has answered in none of so many rounds hangs: no collection of garbage takes so long. */
export const mostMissed = 30

/** How the supervisor deals with its workers. */
export interface Heartbeats<W extends object> {
  /** The workers that serve. A worker that starts may prepare the database for minutes. */
  workers(): Iterable<W>
  /** Asks a worker for an answer. Resolves with whether a debugger can stop it at any time. */
  ask(worker: W): Promise<boolean>
  /** Called once for a worker that hangs. */
  hangs(worker: W): void
}

interface Pulse {
  missed: number
  isWaiting: boolean
  isDebugged: boolean
}

/** Returns a function that begins the next round. */
export function watchHeartbeats<W extends object>({ workers, ask, hangs }: Heartbeats<W>): () => void {
  const pulses = new WeakMap<W, Pulse>()
  const begin = (worker: W, pulse: Pulse) => {
    pulse.isWaiting = true
    pulse.missed = 0
    ask(worker).then(
      (isDebugged) => Object.assign(pulse, { isDebugged, isWaiting: false }),
      // The worker has ended.
      () => {},
    )
  }
  return () => {
    for (const worker of workers()) {
      const pulse = pulses.get(worker) ?? { missed: 0, isWaiting: false, isDebugged: false }
      pulses.set(worker, pulse)
      if (!pulse.isWaiting) begin(worker, pulse)
      else if (!pulse.isDebugged && ++pulse.missed === mostMissed) {
        // If the supervisor stood still too, an answer may be there already.
        setImmediate(() => pulse.isWaiting && hangs(worker))
      }
    }
  }
}
