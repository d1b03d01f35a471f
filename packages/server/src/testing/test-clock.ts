/** The clock of an application under test: it stands still until the test moves it. */
import { momentOf, parseDuration } from 'resourced-contract/model/time'

/** A moment: a date or date-time of ISO 8601 such as `2027-01-01T09:00:00Z`, a `Date`, or milliseconds since 1970. */
export type Moment = string | Date | number

/** The clock of an application under test. */
export interface TestClock {
  /** The time, in milliseconds since 1970. It stands still until the test moves it. */
  readonly now: number
  /**
   * Moves the clock by an ISO 8601 duration of weeks, days, hours, minutes and seconds, or by milliseconds. Then
   * removes what has expired, such as deleted records after their grace period.
   *
   * @throws TypeError if this is no such duration
   * @example
   * await app.clock.advance('P31D')
   */
  advance(duration: string | number): Promise<void>
  /**
   * Moves the clock to a moment, also to an earlier one. Then removes what has expired.
   *
   * @throws TypeError if this is no moment
   */
  set(moment: Moment): Promise<void>
}

/**
 * Makes a clock.
 *
 * @param start its first time, in milliseconds since 1970
 * @param moved is called with the time after each move, and awaited
 */
export function testClock(start: number, moved: (now: number) => Promise<void>): TestClock & { reset(): void } {
  let now = start
  const moveTo = (moment: number) => {
    now = moment
    return moved(now)
  }
  return {
    get now() {
      return now
    },
    advance: async (duration) => moveTo(now + millisecondsOf(duration)),
    set: async (moment) => moveTo(readMoment(moment)),
    reset() {
      now = start
    },
  }
}

function millisecondsOf(duration: string | number): number {
  if (typeof duration === 'number' && Number.isFinite(duration)) return duration
  const reading = parseDuration(String(duration))
  if (reading.kind === 'duration') return reading.milliseconds
  const found = `${JSON.stringify(duration)} is no duration of fixed length`
  throw new TypeError(`${found}. Write weeks, days, hours, minutes or seconds, such as 'P31D' or 'PT1H'.`)
}

/** @throws TypeError */
export function readMoment(moment: Moment): number {
  const milliseconds = typeof moment === 'string' ? momentOf(moment) : Number(moment)
  if (milliseconds !== undefined && Number.isFinite(milliseconds)) return milliseconds
  throw new TypeError(`${JSON.stringify(moment)} is no moment. Write it as '2027-01-01' or '2027-01-01T09:00:00Z'.`)
}
