/** Starts an example as a process, and checks what every one of them must do. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** Starts a program, and gives the address that it prints. It is stopped when the test ends. */
export async function start(context: TestContext, args: readonly string[], cwd = import.meta.dirname): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-embed-'))
  const env = {
    ...process.env,
    NEXT_TELEMETRY_DISABLED: '1',
    PORT: '0',
    DATABASE_URL: `sqlite:${join(folder, 'tasks.db')}`,
    NODE_TEST_CONTEXT: '',
  }
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(child, 'close')
  context.after(async () => {
    child.kill('SIGTERM')
    await closed
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  })
  let printed = ''
  return new Promise((resolve, reject) => {
    const read = (piece: Buffer) => {
      printed += piece
      const [, address] = /(http:\/\/(?:127\.0\.0\.1|localhost):\d+)/.exec(printed) ?? []
      if (address !== undefined) resolve(address)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    closed.then(([code]) => reject(new Error(`${args.join(' ')} ended with ${code}: ${printed}`)))
  })
}

/**
 * Checks an example: the interface under /api, and the application's own pages beside it.
 *
 * @param methods `all`, unless the framework has no route for QUERY
 */
export async function check(origin: string, methods: 'all' | 'known' = 'all'): Promise<void> {
  const ask = async (path: string, init: RequestInit = {}, session = 'session-of-ann') => {
    const headers = { 'content-type': 'application/json', ...init.headers, cookie: `a=b; session=${session}` }
    const response = await fetch(`${origin}${path}`, { redirect: 'manual', ...init, headers })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) }
  }
  const post = (body: string) => ask('/api/v1/tasks', { method: 'POST', body })

  const made = await post('{ "title": "Read the guide" }')
  assert.equal(made.status, 201, made.text)
  const location = made.headers.get('location') ?? ''
  assert.equal(location, `/api/v1/tasks/${made.json().id}`)
  assert.equal(made.json().owner_id, 'ann')
  assert.equal((await ask(location)).status, 200)
  assert.equal((await ask(location, { method: 'PATCH', body: '{"done":true}' })).json().done, true)
  assert.equal(
    (await ask(location, { headers: { 'if-none-match': (await ask(location)).headers.get('etag') ?? '' } })).status,
    304,
  )
  await post('{ "title": "Write one" }')
  const list = await ask('/api/v1/tasks?limit=1&sort=title')
  assert.match(list.headers.get('link') ?? '', /<\/api\/v1\/tasks\?[^>]*>; rel="next"/)

  const searched = await ask('/api/v1/tasks', { method: 'QUERY', body: '{"q":"guide"}' })
  if (methods === 'all') assert.equal(searched.json().data.length, 1, searched.text)

  // The rules of HTTP and of the interface hold.
  assert.equal((await ask(location, {}, 'session-of-bob')).status, 403)
  const refused = await ask(location, {}, 'session-of-eve')
  assert.deepEqual([refused.status, refused.json().code], [401, 'UNAUTHENTICATED'])
  assert.equal((await fetch(`${origin}/api/v1/tasks`)).status, 401)
  assert.equal((await ask('/api/v1/tasks', { method: 'PUT', body: '{}' })).status, 405)
  assert.equal((await post('{ "title": 9007199254740993 }')).json().code, 'MALFORMED_JSON')
  assert.equal((await post('{ "title": "a", "title": "b" }')).json().code, 'MALFORMED_JSON')
  assert.equal(await statusBeforeTheEnd(`${origin}/api/v1/tasks`, 2_000_000), 413)
  assert.equal((await post('')).status, 400)
  assert.equal((await ask('/api/v1/nothing')).json().instance, '/api/v1/nothing')
  assert.equal((await fetch(`${origin}/api/health/ready`)).status, 200)
  assert.equal((await ask('/api/v1/openapi.json')).json().servers[0].url, '/api/v1')

  // The application's own pages.
  assert.match((await ask('/')).text, /This page is of/)
  assert.deepEqual((await ask('/titles')).json(), ['Read the guide', 'Write one'])
  assert.deepEqual((await ask('/echo', { method: 'POST', body: '{"a":1}' })).json(), { a: 1 })
  const other = await ask('/elsewhere')
  assert.equal(other.status, 404)
  assert.doesNotMatch(other.text, /urn:resourced/)

  const gone = await ask(location, { method: 'DELETE' })
  assert.deepEqual([gone.status, gone.text], [204, ''])
}

/**
 * The status of a POST that announces a body and sends only its beginning. Some frameworks close the connection after
 * an answer to an unfinished request, so a client that went on sending could miss it.
 */
async function statusBeforeTheEnd(url: string, length: number): Promise<number | undefined> {
  const headers = { 'content-type': 'application/json', 'content-length': length, cookie: 'session=session-of-ann' }
  const sending = request(url, { method: 'POST', headers, agent: false })
  sending.write('{ "title": "x')
  const [response] = (await once(sending, 'response')) as [IncomingMessage]
  sending.on('error', () => undefined).destroy()
  return response.statusCode
}
