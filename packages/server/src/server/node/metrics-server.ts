/** Serves metrics over plain HTTP on a port of their own, which clients of the interface do not reach (OPS-1). */
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { metricsType } from 'resourced-contract/spec/media-types'
import { type HttpRequest, type HttpResponse, splitTarget } from '../../http/message.ts'
import type { Metrics } from '../observe/metrics.ts'
import { createNodeServer } from './listener.ts'

/** Makes a server of metrics, which does not listen yet. */
export function createMetricsServer({ read }: Pick<Metrics, 'read'>) {
  const server = createNodeServer({
    respond: (request) => answer(read, request),
    problem: ({ status, message }) => textOf(status, `${message}\n`),
  })
  return {
    /**
     * Begins to listen.
     *
     * @param port 0 takes a free one
     * @returns the address of the metrics: `http://127.0.0.1:9464/metrics`
     * @throws ConfigurationError if it cannot listen there
     */
    async listen(host: string, port: number): Promise<string> {
      try {
        return `${await server.listen(host, port)}/metrics`
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        const reason = code === 'EADDRINUSE' ? 'the port is in use' : `${code}`
        throw new ConfigurationError(
          `Metrics cannot be served on ${host}, port ${port}: ${reason}. ` +
            'Choose others with --metrics-port and --metrics-host.',
        )
      }
    },
    // A slow reader must not delay the end of the process.
    close: () => server.close(0),
  }
}

async function answer(read: Metrics['read'], { method, target }: HttpRequest): Promise<HttpResponse> {
  if (splitTarget(target).path !== '/metrics') return textOf(404, 'Metrics are at /metrics.\n')
  if (method !== 'GET' && method !== 'HEAD') {
    return textOf(405, 'Metrics are read with GET or HEAD.\n', { Allow: 'GET, HEAD' })
  }
  try {
    return textOf(200, await read(), { 'Content-Type': metricsType })
  } catch {
    return textOf(500, 'Metrics cannot be read.\n')
  }
}

function textOf(status: number, body: string, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return { status, headers: { 'Content-Type': 'text/plain; charset=utf-8', ...headers }, body }
}
