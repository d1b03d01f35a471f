/** Everything that can happen, as one union. The log subscribes to it; so can metrics and traces. */

/** Something that happened. */
export type Observation =
  | {
      readonly kind: 'request'
      readonly requestId: string
      readonly method: string
      /** Without its query string: what people search for is not logged. */
      readonly path: string
      readonly status: number
      /** The problem's code, where the answer is one. */
      readonly code: string | undefined
      /** The caller's id. */
      readonly caller: string | undefined
      /** Milliseconds. */
      readonly duration: number
    }
  /** A fault of ours (5xx): what the caller is not told. */
  | { readonly kind: 'failure'; readonly requestId: string; readonly error: unknown }
  /** A job is over (JOB-2). */
  | { readonly kind: 'job'; readonly job: string; readonly task: string; readonly status: 'succeeded' | 'failed' }
  /** The keys of JWT could not be fetched; those had before go on serving. At most every half minute. */
  | { readonly kind: 'key-server'; readonly error: unknown }
  /** Whether requests are counted together with other servers (LIM-1). */
  | { readonly kind: 'redis'; readonly state: 'connected' }
  | { readonly kind: 'redis'; readonly state: 'lost'; readonly reason: string }
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'stopping'; readonly reason: string }
  | { readonly kind: 'stopped' }

/** Receives what happens. It must not throw. */
export type Observe = (observation: Observation) => void
