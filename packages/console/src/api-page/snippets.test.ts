/** The code of a request runs, and sends the same request, whatever is in it. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { curlSnippet, pythonSnippet, type SnippetRequest, typeScriptSnippet } from './snippets.ts'

const url = 'https://api.example/v1/tasks'
const hostile = `'"\`$(id) \\ %s {0} \${process.exit()} \u2028 \u0000 \u202e 😀\n\r\t #`

const requests: Readonly<Record<string, SnippetRequest>> = {
  'a list': { method: 'GET', url: `${url}?status=open&sort=-due_on`, headers: [] },
  'a creation': {
    method: 'POST',
    url,
    headers: [['Content-Type', 'application/json']],
    body: '{ "title": "One", "tags": ["a b"], "due_on": null }',
  },
  'a hostile text': {
    method: 'POST',
    url,
    headers: [['X-Note', `it's "quoted" \\ $HOME \`id\``]],
    body: JSON.stringify({ title: hostile }),
  },
  'a number that JavaScript rounds': { method: 'POST', url, headers: [], body: '{"n": 9007199254740993}' },
  'a name that JavaScript keeps for itself': { method: 'POST', url, headers: [], body: '{"__proto__": {"a": 1}}' },
  'a name twice': { method: 'POST', url, headers: [], body: '{"a": 1, "a": 2}' },
  'what is not JSON': { method: 'PATCH', url, headers: [], body: "@/etc/passwd ' \n" },
}

/** What arrives, if the meaning of a JSON body is compared and not its spaces. */
function comparable(body: string | undefined): unknown {
  return body?.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, text?: string) => text ?? '')
}

for (const [name, request] of Object.entries(requests)) {
  test(`curl: ${name}`, () => {
    // A function in place of the program prints its arguments.
    const script = `curl() { printf '%s\\n\\0' "$@"; }\nKEY=secret\n${curlSnippet(request)}`
    const printed = execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\n\0').slice(0, -1)
    // A shell has no zero byte in its texts; JSON writes it as an escape.
    assert.deepEqual(printed.slice(0, 5), ['-X', request.method, request.url, '-H', 'Authorization: Bearer secret'])
    const rest = printed.slice(5)
    for (const [field, value] of request.headers) assert.deepEqual(rest.splice(0, 2), ['-H', `${field}: ${value}`])
    assert.deepEqual(rest, request.body === undefined ? [] : ['--data-raw', request.body])
  })

  test(`TypeScript: ${name}`, async () => {
    const sent: { url: string; init: { method: string; headers: Record<string, string>; body?: string } }[] = []
    const fetch = async (url: string, init: (typeof sent)[number]['init']) => {
      sent.push({ url, init })
      return { status: 200, text: async () => '' }
    }
    const run = Object.getPrototypeOf(async () => {}).constructor as FunctionConstructor
    const silent = { log() {} }
    await new run('fetch', 'process', 'console', typeScriptSnippet(request))(fetch, { env: { KEY: 'secret' } }, silent)
    const [{ url: asked, init } = assert.fail('nothing was sent')] = sent
    assert.deepEqual([asked, init.method], [request.url, request.method])
    assert.deepEqual(init.headers, { Authorization: 'Bearer secret', ...Object.fromEntries(request.headers) })
    assert.equal(comparable(init.body), comparable(request.body))
  })

  test(`Python: ${name}`, { skip: spawnSync('python3', ['--version']).status !== 0 && 'python3 is missing' }, () => {
    const program = [
      'import json, sys, types',
      'module = types.ModuleType("requests")',
      'def request(method, url, headers, data=None):',
      '    print(json.dumps([method, url, headers, None if data is None else data.decode()]))',
      '    return types.SimpleNamespace(status_code=200, text="")',
      'module.request = request',
      'sys.modules["requests"] = module',
      pythonSnippet(request),
    ].join('\n')
    const printed = execFileSync('python3', ['-c', program], {
      encoding: 'utf8',
      env: { ...process.env, KEY: 'secret' },
    })
    const headers = { Authorization: 'Bearer secret', ...Object.fromEntries(request.headers) }
    assert.deepEqual(JSON.parse(printed.split('\n')[0] ?? ''), [
      ...[request.method, request.url, headers],
      request.body ?? null,
    ])
  })
}

test('a header without a value and HEAD are written as curl needs them', () => {
  const text = curlSnippet({ method: 'HEAD', url, headers: [['X-Empty', '']] })
  assert.equal(text, `curl --head '${url}' \\\n  -H "Authorization: Bearer $KEY" \\\n  -H 'X-Empty;'`)
})
