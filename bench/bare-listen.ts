/** How the bare servers listen: with Node's defaults, by HTTP or HTTPS. */
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'

/** Listens on loopback. `where` is PORT, or PORT CERT KEY with files in PEM. */
export function listen(handle: RequestListener, [port, cert, key]: readonly string[]): void {
  const server =
    cert === undefined || key === undefined
      ? createServer(handle)
      : createSecureServer({ cert: readFileSync(cert), key: readFileSync(key) }, handle)
  server.listen(Number(port), '127.0.0.1')
}
