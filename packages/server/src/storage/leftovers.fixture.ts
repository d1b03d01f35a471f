import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** The number of a process that has ended. */
export async function endedProcess(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  await once(child, 'exit')
  return Number(child.pid)
}
