/**
 * Serves one large file from a process of its own, so that its memory can be seen: `large-files.fixture.ts FILE BYTES
 * TLS?`.
 */
import { dirname } from 'node:path'
import { localCertificate } from '../../packages/server/src/server/node/certificates.ts'
import { createNodeServer } from '../../packages/server/src/server/node/listener.ts'

const [path = '', bytes = '', secure = ''] = process.argv.slice(2)
const length = Number(bytes)
const server = createNodeServer({
  respond: async ({ target }) => ({
    ...{ status: 200, headers: {} },
    body: target === '/' ? { kind: 'file', path, start: 0, length } : 'text',
  }),
  problem: ({ status, code }) => ({ status, headers: {}, body: code }),
  ...(secure === '' ? {} : { tls: await localCertificate(dirname(path)) }),
})
process.stdout.write(`${await server.listen('127.0.0.1', 0)}\n`)
