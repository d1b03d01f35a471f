/** What it takes to start with data present. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ask, type Request } from './ask.ts'
import type { Measurement } from './measurement.ts'
import { ours } from './ours.ts'
import { freePort, launch, type Start, stop } from './processes.ts'
import { spreadOf } from './rounds.ts'
import { copyOf, get } from './setup.ts'

export const startUp: Measurement = {
  name: 'start-up',
  async measure({ folder, pace, data }) {
    const database = `sqlite:${copyOf(data.file, folder)}`
    const request = get(data, `/v1/cities/${data.records.cities[0]?.['id']}`)
    const times: number[] = []
    // The first start makes the certificate: it does not count.
    for (let turn = 0; turn <= pace.rounds; turn++) {
      const time = await timeStartUp(ours(folder, 'start-up', database, await freePort(), true), request)
      if (turn > 0) times.push(time)
    }
    const title = 'Start-up with data present, to the first answer, HTTPS'
    return [{ title, unit: 'ms', own: spreadOf(times), comparisons: [], atMost: 400 }]
  },
}

/** Milliseconds from starting the process to the end of its first 200. */
async function timeStartUp(start: Start, request: Request): Promise<number> {
  const began = performance.now()
  const child = launch(start)
  try {
    for (;;) {
      const status = await ask(start.origin + request.path, request).then(
        (answer) => answer.status,
        () => 0,
      )
      if (status === 200) return performance.now() - began
      if (child.exitCode !== null || performance.now() - began > 30_000) throw new Error('The server did not answer.')
      await sleep(2)
    }
  } finally {
    await stop(child)
  }
}
