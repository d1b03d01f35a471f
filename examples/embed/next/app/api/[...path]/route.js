/** All addresses under /api are those of the interface. */
import { forwardedAddress, toFetchHandler } from 'resourced'
import { openInterface } from '../../interface.js'

let handler

/** Next.js writes X-Forwarded-For, unless the client or a proxy has: run it behind a proxy that always writes it. */
async function handle(request) {
  handler ??= toFetchHandler(await openInterface(), { address: forwardedAddress })
  return handler(request)
}

export {
  handle as DELETE,
  handle as GET,
  handle as HEAD,
  handle as OPTIONS,
  handle as PATCH,
  handle as POST,
  handle as PUT,
}
