/** How long it takes from starting the command, with data present, to the first answer. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ask, type Request } from './ask.ts'
import { launch, type Start, stop } from './processes.ts'

/** Milliseconds from starting the process to the end of its first 200. */
export async function timeStartUp(start: Start, request: Request): Promise<number> {
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
