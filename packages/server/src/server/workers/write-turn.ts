/**
 * The turn to write to a SQLite file, which goes round among workers: the supervisor's queue, and a worker's end of it.
 *
 * SQLite's lock alone decides who writes. The turn only spares workers from polling for the lock, so it may get lost or
 * be held twice without harm. A worker keeps the turn until another one asks for it. While several write, each gives it
 * back after every commit.
 */
import type { WriteTurn } from '../../storage/storage.ts'

/** How a worker is reached. */
export interface TurnTaker {
  /** The worker may write; `isShared`: others write too, so it gives the turn back after its next commit. */
  grant(isShared: boolean): void
  /** Another worker waits for the turn. */
  recall(): void
}

/** For how long after a change of hands the turn counts as shared, in milliseconds. */
const sharedFor = 200

/** How long a worker waits for the turn at most, in milliseconds: its holder, or the supervisor, may hang. */
const longestWait = 250

/** The queue of the workers that wait to write. */
export interface TurnQueue {
  /** A worker wants to write; `isUrgent`: it has waited for too long, and writes now. */
  ask(worker: TurnTaker, isUrgent: boolean): void
  /** A worker has given back the turn, or has ended. */
  leave(worker: TurnTaker): void
}

/** Makes the queue of a supervisor. */
export function openTurnQueue(): TurnQueue {
  const waiting = new Set<TurnTaker>()
  let holder: TurnTaker | undefined
  let lastHolder: TurnTaker | undefined
  let changedHands = Number.NEGATIVE_INFINITY

  const hold = (worker: TurnTaker) => {
    const now = performance.now()
    if (lastHolder !== worker) changedHands = now
    waiting.delete(worker)
    holder = worker
    lastHolder = worker
    worker.grant(waiting.size > 0 || now - changedHands < sharedFor)
  }
  const next = () => {
    const [first] = waiting
    if (holder === undefined && first !== undefined) hold(first)
  }
  return {
    ask(worker, isUrgent) {
      if (isUrgent && holder !== worker) {
        holder?.recall()
        hold(worker)
        return
      }
      waiting.add(worker)
      if (holder === worker) holder = undefined
      else holder?.recall()
      next()
    },
    leave(worker) {
      waiting.delete(worker)
      if (holder === worker) holder = undefined
      next()
    },
  }
}

/** A worker's end. */
export interface WorkerTurn extends WriteTurn {
  granted(isShared: boolean): void
  recalled(): void
  /** There is no supervisor any more: SQLite's lock has to do. */
  close(): void
}

/**
 * Makes a worker's end of the queue.
 *
 * @param ask asks for the turn at once
 * @param giveBack gives it back at once
 */
export function openWorkerTurn(ask: (isUrgent: boolean) => void, giveBack: () => void): WorkerTurn {
  let state: 'none' | 'held' | 'shared' | 'unsupervised' = 'none'
  let begin: (() => void) | undefined
  let timer: NodeJS.Timeout | undefined
  let isWriting = false

  const start = (next: typeof state) => {
    clearTimeout(timer)
    state = next
    const waiting = begin
    begin = undefined
    if (waiting !== undefined) waiting()
    else if (state === 'shared') end()
  }
  const end = () => {
    isWriting = false
    if (state !== 'shared') return
    state = 'none'
    giveBack()
  }
  return {
    take(whenGranted) {
      isWriting = state !== 'none'
      if (isWriting) return true
      begin = () => {
        isWriting = true
        whenGranted()
      }
      ask(false)
      timer = setTimeout(() => {
        ask(true)
        start('held')
      }, longestWait)
      return false
    },
    end,
    granted: (isShared) => state === 'unsupervised' || start(isShared ? 'shared' : 'held'),
    recalled() {
      if (state === 'held') state = 'shared'
      if (!isWriting) end()
    },
    close: () => start('unsupervised'),
  }
}
