/**
 * The yardstick *bare*: Node's own server, sending recorded answers. `node bare.ts RECORDING PORT [CERT KEY]`.
 * It looks at nothing but the address: what it reaches is what Node itself reaches with these bytes.
 */
import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import type { Answer } from './ask.ts'
import { listen } from './bare-listen.ts'

const [, , recording = '', ...where] = process.argv
const answers = new Map(Object.entries(JSON.parse(readFileSync(recording, 'utf8')) as Record<string, Answer>))

const handle: RequestListener = (request, response) => {
  const answer = answers.get(request.url as string)
  if (answer === undefined) {
    response.writeHead(404).end()
    return
  }
  response.writeHead(answer.status, answer.headers)
  if (answer.body === '') response.end()
  else response.end(answer.body)
}

listen(handle, where)
