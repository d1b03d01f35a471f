/** Faults of CON-1. */
import { answering, on } from '../../plant/answers.ts'
import { withField, without } from '../../plant/messages.ts'
import { all, always, isCollection, isNowhere, isRead, isRecord, of, type Which } from '../../plant/which.ts'
import type { Fault } from '../../planted.ts'

/** Some requests, and what they are answered. */
type Kind = readonly [which: Which, ...statuses: readonly number[]]

const reads: Readonly<Record<string, Kind>> = {
  read: [all(isRead, isRecord), 200, 304],
  list: [all(isRead, isCollection), 200, 304],
}

const others: Readonly<Record<string, Kind>> = {
  creation: [of('POST'), 201],
  change: [of('PATCH'), 200],
  deletion: [of('DELETE'), 204],
  missing: [isNowhere, 404],
  refused: [always, 401],
  invalid: [of('POST'), 400],
}

const cacheControl = (value: string) => withField('cache-control', value)

export const cachingFaults: readonly Fault[] = [
  ...Object.entries({ ...reads, ...others }).map(
    ([name, [which, ...statuses]]): Fault => ({
      breaks: `CON-1/says-${name}`,
      says: `It says nothing about caching (${name}).`,
      plant: answering(which, on(statuses, without('cache-control'))),
    }),
  ),
  ...Object.entries(reads).flatMap(([name, [which, ...statuses]]): Fault[] => [
    {
      breaks: `CON-1/private-${name}`,
      says: `It lets shared caches keep what one caller has read (${name}).`,
      plant: answering(which, on(statuses, cacheControl('public, no-cache'))),
    },
    {
      breaks: `CON-1/again-${name}`,
      says: `It does not say how long an answer keeps (${name}).`,
      plant: answering(which, on(statuses, cacheControl('private'))),
    },
  ]),
  ...Object.entries(others).map(
    ([name, [which, ...statuses]]): Fault => ({
      breaks: `CON-1/no-store-${name}`,
      says: `It lets caches keep what is not worth it (${name}).`,
      plant: answering(which, on(statuses, cacheControl('private, no-cache'))),
    }),
  ),
]
