/** Proxies of Debian as a test's own: on loopback, with the configuration of a page of the documentation. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { selfSigned } from '../../packages/server/src/server/node/self-signed.ts'
import { freePort } from '../postgres/free-port.ts'

/** A kind of proxy. */
export interface ProxyKind {
  readonly name: 'nginx' | 'HAProxy' | 'Caddy'
  /** The argument with which the program only says what it is. */
  readonly version: string
  /** Words by which to find its configuration in the page. */
  readonly mark: string
  /** Where it compresses JSON itself, and whether the server is then asked for something uncompressed. */
  readonly compressing: Readonly<Record<'beside the server' | 'alone', (configuration: string) => string>>
  /** The configuration of the page for one place: a port, a server, and a file with a certificate and its key. */
  configure(page: string, place: Place): string
  command(file: string, folder: string): readonly string[]
}

interface Place {
  readonly port: number
  readonly upstream: number
  readonly pem: string
  readonly folder: string
}

const page = readFileSync(join(import.meta.dirname, '../../docs/how-to/deploy-on-a-server.md'), 'utf8')

const nginxGzip = 'gzip on; gzip_proxied any; gzip_types application/json; gzip_min_length 256;'
const haproxyGzip = 'compression algo gzip\n    compression type application/json'

/** The proxies that the page is about. */
export const proxies: readonly ProxyKind[] = [
  {
    name: 'nginx',
    version: '-v',
    mark: 'proxy_pass http://',
    compressing: {
      'beside the server': (text) => text.replace('location / {', `${nginxGzip}\n location / {`),
      alone: (text) =>
        text.replace('location / {', `${nginxGzip}\n location / {\n proxy_set_header Accept-Encoding "";`),
    },
    configure: (text, { port, upstream, pem, folder }) => {
      const server = text
        .replace('127.0.0.1:8443', `127.0.0.1:${upstream}`)
        .replace('listen 443', `listen 127.0.0.1:${port}`)
        .replaceAll(/\/etc\/letsencrypt\/live\/[^;]+/g, pem)
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (kind) => `${kind}_temp_path ${folder}/${kind};`,
      )
      return `pid ${folder}/pid; error_log ${folder}/errors; daemon off;
events {}
http { access_log off; ${paths.join(' ')}
${server} }`
    },
    command: (file, folder) => ['nginx', '-p', folder, '-e', join(folder, 'errors'), '-c', file],
  },
  {
    name: 'HAProxy',
    version: '-v',
    mark: 'option httpchk',
    compressing: {
      'beside the server': (text) => text.replace('backend library\n', `backend library\n    ${haproxyGzip}\n`),
      alone: (text) =>
        text.replace('backend library\n', `backend library\n    ${haproxyGzip}\n    compression offload\n`),
    },
    configure: (text, { port, upstream, pem }) =>
      text
        .replace('127.0.0.1:8443', `127.0.0.1:${upstream}`)
        .replace(':443', `127.0.0.1:${port}`)
        .replace(/\/etc\/haproxy\/api\S+/, pem),
    command: (file) => ['haproxy', '-db', '-f', file],
  },
  {
    name: 'Caddy',
    version: 'version',
    mark: 'reverse_proxy',
    compressing: {
      'beside the server': (text) => text.replace('    reverse_proxy', '    encode zstd gzip\n    reverse_proxy'),
      alone: (text) =>
        text.replace(
          / {4}reverse_proxy (\S+)/,
          '    encode gzip\n    reverse_proxy $1 {\n header_up -Accept-Encoding\n }',
        ),
    },
    configure: (text, { port, upstream, pem, folder }) => {
      const site = text
        .replace('127.0.0.1:8443', `127.0.0.1:${upstream}`)
        .replace('api.example.com {', `https://127.0.0.1:${port} {\n    tls ${pem} ${pem}`)
      return `{\n admin off\n auto_https off\n default_sni 127.0.0.1\n storage file_system ${folder}\n}\n${site}`
    },
    command: (file) => ['caddy', 'run', '--config', file, '--adapter', 'caddyfile'],
  },
]

/** Why a proxy cannot run here; `undefined`: it can. */
export function whyNo({ name, version }: ProxyKind): string | undefined {
  const { status } = spawnSync(name.toLowerCase(), [version], { stdio: 'ignore' })
  return status === 0 ? undefined : `${name} is not installed: apt-get install nginx-light haproxy caddy`
}

/**
 * Starts a proxy until the test ends.
 *
 * @param upstream the port of the server behind it
 * @param change what the test adds to the configuration of the page
 * @returns its origin
 */
export async function proxyFor(
  context: TestContext,
  proxy: ProxyKind,
  upstream: number,
  change: (configuration: string) => string = (text) => text,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-proxy-'))
  const { key, cert } = selfSigned('127.0.0.1', new Date(Date.now() - 60_000), new Date(Date.now() + 86_400_000))
  const pem = join(folder, 'certificate.pem')
  writeFileSync(pem, `${cert}${key}`)
  const port = await freePort()
  const shown = [...page.matchAll(/```\w+[^\n]*\n(.*?)```/gs)].map(([, block]) => block!)
  const configuration = shown.find((block) => block.includes(proxy.mark))
  assert.ok(configuration !== undefined, `the page has a configuration for ${proxy.name}`)
  const changed = change(configuration)
  const file = join(folder, 'configuration')
  writeFileSync(file, proxy.configure(changed, { port, upstream, pem, folder }))
  const [program, ...parameters] = proxy.command(file, folder)
  const environment = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const child = spawn(program!, parameters, { stdio: ['ignore', 'pipe', 'pipe'], env: environment })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  context.after(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit')
      // All three end at once; nginx ends its workers with itself.
      child.kill('SIGTERM')
      await ended
    }
    rmSync(folder, { recursive: true, force: true })
  })
  for (let attempt = 0; attempt < 600; attempt++) {
    assert.equal(child.exitCode, null, output)
    if (await isListening(port)) return `https://127.0.0.1:${port}`
    await sleep(50)
  }
  assert.fail(`${proxy.name} does not listen: ${output}`)
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
