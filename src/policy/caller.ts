/** Who is calling. */
import type { CallerView } from '../model/declaration.ts'

/** An authenticated caller. The object lives as long as its credential is cached, so that grants can be kept with it. */
export interface Caller extends CallerView {
  /** Which credential it came with: the id of an API key, or `jwt`. */
  readonly credential: string
  /** When that credential ends, in milliseconds since 1970; infinity: never. What it makes must not outlive it. */
  readonly expiresAt: number
}

/** The role that undeclared actions require (AUT-3). */
export const administrator = 'admin'

/** Whether the caller has the role `admin`. */
export function isAdministrator(caller: CallerView): boolean {
  return caller.roles.includes(administrator)
}
