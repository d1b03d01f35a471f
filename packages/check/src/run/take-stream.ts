/** Opens the streams of a case, and closes them when the case has seen enough. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type CaseState, NotSetUp, type Observations, type Step } from '../case/case.ts'
import { fill } from '../case/fill.ts'
import type { Exchange } from '../client/exchange.ts'
import { urlOf } from '../profile/profile.ts'
import type { CaseRun } from './context.ts'

type StreamStep = Extract<Step, { readonly kind: 'stream' }>

/** How long a stream may take until its first bytes, in milliseconds. */
const longestOpening = 10_000

/**
 * Opens streams. A single stream that is refused with 429 is opened again after a pause.
 *
 * @param meanwhile is called once they are open
 * @returns an exchange for each stream, with what was received
 */
export async function takeStreams(
  run: CaseRun,
  { as, to, headers = {}, caller = 'caller', times = 1, until, seconds }: StreamStep,
  seen: Observations,
  meanwhile: () => Promise<void>,
): Promise<readonly Exchange[]> {
  const stop = new AbortController()
  const enough = new AbortController()
  const url = urlOf(run.profile, fill(to, run))
  const bytes = requestBytes(run, url, [...run.credentials[caller], ...Object.entries(headers)])
  // What the test is about exists only after the other steps.
  let isTested = false
  let latest = ''
  const test = (text: string) => {
    latest = text
    if (isTested && until?.(text, seen)) enough.abort()
  }
  const openOne = () => {
    let open = (_: undefined) => {}
    const opened = new Promise<undefined>((resolve) => {
      open = resolve
    })
    const ended = run.client.stream(as, url, bytes, {
      signal: stop.signal,
      received({ status, body }) {
        if (status !== 429) open(undefined)
        test(body)
      },
    })
    return { ended, begun: Promise.race([opened, ended, sleep(longestOpening, undefined, { ref: false })]) }
  }
  let opening = Array.from({ length: times }, openOne)
  try {
    for (let pauses = 0; ; pauses++) {
      const [first] = await Promise.all(opening.map(({ begun }) => begun))
      if (times > 1 || !(await run.client.pauseAfter(first?.answer, pauses))) break
      opening = [openOne()]
    }
    await meanwhile()
    isTested = true
    test(latest)
    await sleep(seconds * 1_000, undefined, { signal: enough.signal }).catch(() => {})
  } finally {
    stop.abort()
  }
  return Promise.all(opening.map(({ ended }) => ended))
}

/** A request whose response goes on: other clients of the checker wait for the end of a response. */
function requestBytes(state: CaseState, url: string, fields: readonly (readonly [name: string, value: string])[]) {
  const { host, pathname, search } = new URL(url)
  const lines = [['Host', host], ['Accept', 'text/event-stream'], ...fields].map(([name, value = '']) => {
    const text = `${name}: ${fill(value, state)}`
    if (/[\r\n]/.test(text)) throw new NotSetUp(`the value for ${name} has a line break`)
    return text
  })
  return `GET ${pathname}${search} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
}
