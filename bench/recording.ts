/** What the bare server sends: our own server's answers, written down. */
import { writeFileSync } from 'node:fs'
import { type Answer, ask, type Request } from './ask.ts'

/** Records our answers by address. */
export async function recordAnswers(file: string, origin: string, requests: readonly Request[]): Promise<void> {
  const answers: Record<string, Answer> = {}
  for (const request of requests) answers[request.path] ??= await ask(origin + request.path, request)
  writeFileSync(file, JSON.stringify(answers))
}
