/** The one answer that shows an API key, and what there is instead when it is asked for again (AUT-2, MET-9). */
import { fault } from '../spec/faults.ts'

/** A key's record, with the key itself. */
export function withKey(record: string, key: string): string {
  return `${record.slice(0, -1)},"key":${JSON.stringify(key)}}`
}

/** The answer to a repeat: what the first request made, and that nobody has the key any more but who received it. */
export function shownOnce(address: string): Error {
  const detail = `The first request made ${address}, and its answer alone showed the key. Where that is lost, delete it and ask for another with a new Idempotency-Key.`
  return fault('KEY_SHOWN_ONCE', { detail })
}
