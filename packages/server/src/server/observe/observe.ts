/** Everything that the log and metrics can report, as one union, and the stages of a request. */

import type { FaultCode } from 'resourced-contract/spec/faults'
import type { Refusal } from '../../policy/caller.ts'
import type { ClockDoubt, Commit, Maintenance, OpenJob, ReplicaNews } from '../../storage/storage.ts'
import type { Version } from '../../versions/versions.ts'

/** Why a stream of events ended: its client left, or did not read, or the server ended it. */
export type StreamEnd =
  | 'client'
  | 'slow'
  | 'credential'
  | 'permission'
  | 'expired'
  | 'failure'
  | 'maintenance'
  | 'version'
  | 'closing'

/** Something that happened. */
export type Observation =
  /** A request has arrived; a `request` follows when it is answered. */
  | { readonly kind: 'arrival' }
  | {
      readonly kind: 'request'
      readonly requestId: string
      readonly method: string
      /** Without the query string: what people search for is not logged. */
      readonly path: string
      /** `undefined` if the request names none, or an unknown one. */
      readonly version: Pick<Version, 'name' | 'deprecatedAt' | 'sunsetAt'> | undefined
      /** The path without ids, such as `/v1/tasks/{id}`; `undefined` if there is no such address. */
      readonly route: string | undefined
      readonly status: number
      /** The error code of the response. */
      readonly code: string | undefined
      /** The tenant that the caller names. */
      readonly tenant: string | undefined
      /** The caller's id. */
      readonly caller: string | undefined
      /** Milliseconds. */
      readonly duration: number
    }
  /** A request was refused before the pipeline, because it could not be parsed or exceeds a limit. */
  | { readonly kind: 'unreadable'; readonly code: FaultCode }
  /** A request was rejected because of overload (LIM-4). */
  | { readonly kind: 'turned-away' }
  /** A failure of the server (5xx), with the cause that the caller does not get. */
  | {
      readonly kind: 'failure'
      readonly requestId: string
      readonly error: unknown
      /** The task whose batch has failed; `other` for work besides jobs; `undefined` for requests. */
      readonly task?: OpenJob['task'] | 'other'
    }
  /** A credential was refused (401), with the reason that the client does not get. */
  | ({ readonly kind: 'credential-refused'; readonly requestId: string } & Refusal)
  /** Changes were committed together. The log does not report it. */
  | ({ readonly kind: 'commit' } & Commit)
  /** A job has ended (JOB-2). */
  | { readonly kind: 'job'; readonly job: string; readonly task: string; readonly status: 'succeeded' | 'failed' }
  /** A stream of events was opened, or has ended (EVT-7). */
  | { readonly kind: 'stream'; readonly state: 'opened' }
  | { readonly kind: 'stream'; readonly state: 'ended'; readonly reason: StreamEnd; readonly caller: string }
  /** So many events were written to streams, at most one report a second. */
  | { readonly kind: 'events-sent'; readonly events: number }
  /** An attempt to deliver an event has ended (EVT-9, EVT-12). `repeated`: another one follows. */
  | {
      readonly kind: 'delivery'
      /** The id of the delivery. */
      readonly delivery: string
      readonly to: 'webhook' | 'function'
      /** The id of the webhook, or the place of the functions in the declaration. */
      readonly consumer: string
      readonly outcome: 'succeeded' | 'repeated' | 'failed' | 'discarded'
      readonly reason: string | null
    }
  /** The server has turned a webhook off (EVT-9). */
  | { readonly kind: 'webhook-disabled'; readonly webhook: string; readonly reason: string }
  /** Purging stopped because the clock is in doubt (DEL-7), or resumed. */
  | ({ readonly kind: 'purge'; readonly state: 'stopped' } & ClockDoubt)
  | { readonly kind: 'purge'; readonly state: 'resumed' }
  /** The keys for JWTs could not be fetched; the previous ones stay in use. At most every half minute. */
  | { readonly kind: 'key-server'; readonly error: unknown }
  /** A request exceeded the quota of this name in the declaration (LIM-1). */
  | { readonly kind: 'refusal'; readonly quota: string }
  /** The state of the Redis in which servers count requests together (LIM-1). */
  | { readonly kind: 'redis'; readonly state: 'connected' }
  | { readonly kind: 'redis'; readonly state: 'lost'; readonly reason: string }
  /** Reads now use a replica of the database, or the database itself. */
  | ({ readonly kind: 'replica' } & ReplicaNews)
  /** Maintenance was turned on or off, or its message changed (ERR-6); of a tenant by its id, or of everything. */
  | ({ readonly kind: 'maintenance'; readonly state: 'on'; readonly tenant?: string } & Maintenance)
  | { readonly kind: 'maintenance'; readonly state: 'off'; readonly tenant?: string }
  /** New files of certificate and key are in use, or cannot be used and the previous ones stay. */
  | { readonly kind: 'certificate'; readonly state: 'renewed'; readonly until: string }
  | { readonly kind: 'certificate'; readonly state: 'refused'; readonly reason: string }
  /**
   * A thread that answers requests serves, has ended by itself, or stays because the one that should replace it does
   * not start. Number 0 is the thread that writes.
   */
  | {
      readonly kind: 'worker'
      readonly state: 'started'
      readonly worker: number
      readonly thread: number
      /** The name by which the worker claims jobs. */
      readonly server: string
    }
  | { readonly kind: 'worker'; readonly state: 'kept'; readonly worker: number; readonly thread: number }
  /** A thread that was asked to end has not, or the event loop of one that serves stood still, for `after` seconds. */
  | {
      readonly kind: 'worker'
      readonly state: 'killed'
      readonly worker: number
      readonly thread: number
      readonly asked: 'end' | 'answer'
      readonly after: number
    }
  | {
      readonly kind: 'worker'
      readonly state: 'ended'
      readonly worker: number
      readonly thread: number
      readonly reason: string
    }
  /** `server`: the name by which this server claims jobs among the servers of one database (JOB-5). */
  | { readonly kind: 'listening'; readonly url: string; readonly server: string }
  | { readonly kind: 'metrics'; readonly url: string }
  | { readonly kind: 'stopping'; readonly reason: string }
  | { readonly kind: 'stopped' }

/** Receives observations. It must not throw. */
export type Observe = (observation: Observation) => void

/** A stage of a request, in milliseconds by `performance.now()`. */
export interface Stage {
  readonly name: string
  readonly from: number
  readonly to: number
}

/** Measures the stages of a request, for `Server-Timing` (W3C) and for traces. */
export class Timing {
  readonly stages: Stage[] = []
  #last: number

  constructor(started: number) {
    this.#last = started
  }

  /** Ends a stage now. */
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
