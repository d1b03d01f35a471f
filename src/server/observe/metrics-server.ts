/** Serves metrics over plain HTTP on a port of its own, so that clients of the interface do not reach them (OPS-1). */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ConfigurationError } from '../../spec/configuration-error.ts'
import type { Metrics } from './metrics.ts'

/** A metrics server. */
export interface MetricsServer {
  /**
   * Begins to listen.
   *
   * @param port 0 takes a free one
   * @returns the address of the metrics: `http://127.0.0.1:9464/metrics`
   * @throws ConfigurationError if it cannot listen there
   */
  listen(host: string, port: number): Promise<string>
  close(): Promise<void>
}

/** Scrapes come seconds apart, from one or two machines. Milliseconds. */
const timeouts = { headersTimeout: 5_000, requestTimeout: 5_000, connectionsCheckingInterval: 1_000 } as const

/** Makes a metrics server, which does not listen yet. */
export function createMetricsServer(metrics: Pick<Metrics, 'contentType' | 'read'>): MetricsServer {
  const server = createServer(timeouts, (request, response) => void answer(metrics, request, response))
  return {
    listen(host, port) {
      return new Promise((resolve, reject) => {
        server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port)))
        server.listen({ host, port }, () => {
          server.removeAllListeners('error')
          const name = host.includes(':') ? `[${host}]` : host
          resolve(`http://${name}:${(server.address() as AddressInfo).port}/metrics`)
        })
      })
    },
    async close() {
      if (!server.listening) return
      const closed = new Promise((resolve) => server.close(resolve))
      // A slow reader must not delay the end of the process.
      server.closeAllConnections()
      await closed
    },
  }
}

async function answer(
  { contentType, read }: Pick<Metrics, 'contentType' | 'read'>,
  { url = '', method = '' }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const say = (status: number, text: string, type = 'text/plain; charset=utf-8') => {
    response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) })
    response.end(text)
  }
  if (url.split('?', 1)[0] !== '/metrics') return say(404, 'Metrics are at /metrics.\n')
  if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD')
    return say(405, 'Metrics are read with GET or HEAD.\n')
  }
  try {
    say(200, await read(), contentType)
  } catch {
    say(500, 'Metrics cannot be read.\n')
  }
}

function cannotListen({ code }: NodeJS.ErrnoException, host: string, port: number): ConfigurationError {
  const reason = code === 'EADDRINUSE' ? 'the port is in use' : `${code}`
  return new ConfigurationError(
    `Metrics cannot be served on ${host}, port ${port}: ${reason}. ` +
      'Choose others with --metrics-port and --metrics-host.',
  )
}
