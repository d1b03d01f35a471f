/** Everything that can happen, as one union. The log subscribes to it, and so do metrics. */
import type { Refusal } from '../../policy/caller.ts'
import type { FaultCode } from '../../spec/faults.ts'
import type {
  ClockDoubt,
  Commit,
  Maintenance,
  OnCommit,
  OnReplica,
  OpenJob,
  ReplicaNews,
} from '../../storage/storage.ts'
import type { Version } from '../../versions/versions.ts'

/** Something that happened. */
export type Observation =
  /** A request has come; one of the kind `request` follows when it is answered. */
  | { readonly kind: 'arrival' }
  | {
      readonly kind: 'request'
      readonly requestId: string
      readonly method: string
      /** Without its query string: what people search for is not logged. */
      readonly path: string
      /** The version that it is for, where one is known. */
      readonly version: Pick<Version, 'name' | 'deprecatedAt' | 'sunsetAt'> | undefined
      /** What the path is without ids, such as `/v1/tasks/{id}`; `undefined` where it leads nowhere. */
      readonly route: string | undefined
      readonly status: number
      /** The problem's code, where the answer is one. */
      readonly code: string | undefined
      /** The caller's id. */
      readonly caller: string | undefined
      /** Milliseconds. */
      readonly duration: number
    }
  /** What could not be read as a request, and was refused at the edge. */
  | { readonly kind: 'unreadable'; readonly code: FaultCode }
  /** A request was turned away unread: there were too many (LIM-4). */
  | { readonly kind: 'turned-away' }
  /** A fault of ours (5xx): what the caller is not told. */
  | {
      readonly kind: 'failure'
      readonly requestId: string
      readonly error: unknown
      /** Whose batch has failed; `other` for what is done beside jobs. Nothing where it was a request. */
      readonly task?: OpenJob['task'] | 'other'
    }
  /** A credential was refused (401): why, which its sender is not told. */
  | ({ readonly kind: 'credential-refused'; readonly requestId: string } & Refusal)
  /** Changes were committed together. The log, which says nothing of it, is not told. */
  | ({ readonly kind: 'commit' } & Commit)
  /** A job is over (JOB-2). */
  | { readonly kind: 'job'; readonly job: string; readonly task: string; readonly status: 'succeeded' | 'failed' }
  /** Nothing is removed for good, because the clock is in doubt (DEL-7), or is again. */
  | ({ readonly kind: 'purge'; readonly state: 'stopped' } & ClockDoubt)
  | { readonly kind: 'purge'; readonly state: 'resumed' }
  /** The keys of JWT could not be fetched; those had before go on serving. At most every half minute. */
  | { readonly kind: 'key-server'; readonly error: unknown }
  /** There were more requests than a quota, of this name in the declaration, allows (LIM-1). */
  | { readonly kind: 'refusal'; readonly quota: string }
  /** Whether requests are counted together with other servers (LIM-1). */
  | { readonly kind: 'redis'; readonly state: 'connected' }
  | { readonly kind: 'redis'; readonly state: 'lost'; readonly reason: string }
  /** A replica of the database is read from here on, or the database itself instead. */
  | ({ readonly kind: 'replica' } & ReplicaNews)
  /** Maintenance was turned on or off, or what clients are told meanwhile is another (ERR-6). */
  | ({ readonly kind: 'maintenance'; readonly state: 'on' } & Maintenance)
  | { readonly kind: 'maintenance'; readonly state: 'off' }
  /** New files of certificate and key are in use from here on, or cannot be used, and those before them stay. */
  | { readonly kind: 'certificate'; readonly state: 'renewed'; readonly until: string }
  | { readonly kind: 'certificate'; readonly state: 'refused'; readonly reason: string }
  /** `server`: the name by which this server claims jobs, among the servers of one database (JOB-5). */
  | { readonly kind: 'listening'; readonly url: string; readonly server: string }
  | { readonly kind: 'metrics'; readonly url: string }
  | { readonly kind: 'stopping'; readonly reason: string }
  | { readonly kind: 'stopped' }

/** Receives what happens. It must not throw. */
export type Observe = (observation: Observation) => void

/** Lets an observer hear of commits. */
export function tellCommits(observe: Observe): OnCommit {
  return (commit) => observe({ kind: 'commit', ...commit })
}

/** Lets an observer hear of the replica. */
export function tellReplica(observe: Observe): OnReplica {
  return (news) => observe({ kind: 'replica', ...news })
}

/** One observer that tells several. */
export function tellAll(...observers: readonly Observe[]): Observe {
  return (observation) => {
    for (const observe of observers) observe(observation)
  }
}

/** A part of answering: from when to when, in milliseconds by `performance.now()`. */
export interface Stage {
  readonly name: string
  readonly from: number
  readonly to: number
}

/** Notes how long each stage took. */
export class Timing {
  readonly stages: Stage[] = []
  #last: number

  constructor(started: number) {
    this.#last = started
  }

  /** The stage that ends now. */
  mark(name: string): void {
    const now = performance.now()
    this.stages.push({ name, from: this.#last, to: now })
    this.#last = now
  }

  /** The value of `Server-Timing`. */
  format(): string {
    const marks = this.stages.map(({ name, from, to }) => `${name};dur=${(to - from).toFixed(3)}`)
    return [...marks, `rest;dur=${(performance.now() - this.#last).toFixed(3)}`].join(', ')
  }
}
