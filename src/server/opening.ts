/** An application whose database is still being opened: requests wait for it. */
import { randomUUID } from 'node:crypto'
import type { Cors } from '../http/cors.ts'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import type { Fault } from '../spec/faults.ts'
import type { Application } from './app.ts'
import { asFault } from './as-fault.ts'
import { refusal } from './common-headers.ts'
import type { Observe } from './observe/observe.ts'

/** What can be said without a database. */
interface Known {
  readonly cors: Cors | undefined
  readonly observe: Observe | undefined
}

/** Makes the application that will be there. Where it never is, every request gets the 502 of a database that failed. */
export function openingApp(opening: Promise<Application>, { cors, observe }: Known) {
  const unopened = { cors, newRequestId: randomUUID }
  let opened: Application | undefined
  let failure: unknown
  const settled = opening.then(
    (app) => {
      opened = app
    },
    (error: unknown) => {
      failure = error
      observe?.({ kind: 'failure', requestId: 'database', error })
    },
  )
  return {
    async respond(request: HttpRequest): Promise<HttpResponse> {
      await settled
      return opened === undefined ? refusal(unopened, asFault(failure), request) : opened.respond(request)
    },
    refuse: (error: Fault, request?: Pick<HttpRequest, 'target' | 'headers' | 'secure'>): HttpResponse =>
      opened === undefined ? refusal(unopened, error, request) : opened.refuse(error, request),
    async ready() {
      await opening
    },
    async close() {
      await settled
      await opened?.close()
    },
  }
}
