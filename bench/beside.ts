/** A steady load beside the one that is measured: so many requests a second, however fast the answers are. */
import { Agent, request as open } from 'node:http'
import type { Request } from './ask.ts'

/**
 * Sends requests in turn until it is told to stop.
 *
 * @returns stops it, and waits for the last answer
 * @throws Error, when stopped, of a request that failed or was refused
 */
export function sendBeside(
  origin: string,
  load: { readonly requests: readonly Request[]; readonly rate: number } | undefined,
): () => Promise<void> {
  if (load === undefined) return async () => {}
  const { requests, rate } = load
  const agent = new Agent({ keepAlive: true })
  const pending = new Set<Promise<void>>()
  const began = performance.now()
  let sent = 0
  let problem: Error | undefined
  const send = () => {
    const due = Math.floor(((performance.now() - began) * rate) / 1_000)
    for (; sent < due; sent++) {
      const sending = sendOne(origin, requests[sent % requests.length]!, agent)
        .catch((error: Error) => {
          problem ??= error
        })
        .finally(() => pending.delete(sending))
      pending.add(sending)
    }
  }
  const timer = setInterval(send, 2)
  return async () => {
    clearInterval(timer)
    await Promise.all(pending)
    agent.destroy()
    if (problem !== undefined) throw problem
  }
}

function sendOne(origin: string, { method, path, headers, body }: Request, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const sending = open(origin + path, { method, headers: { ...headers }, agent }, (response) => {
      const { statusCode = 0 } = response
      if (statusCode >= 300) reject(new Error(`${method} ${path} was answered with ${statusCode}.`))
      response.resume().on('end', resolve).on('error', reject)
    })
    sending.on('error', reject).end(body)
  })
}
