/** `resourced check` on the command line: its output, its exit codes, and that it discloses no credential. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { commandFile } from '../command-file.ts'
import { type Fault, startPlanted } from './planted.ts'
import { type Shop, serveShop } from './shop.ts'

/** A proxy in front of the shop that breaks or watches something. */
const startBefore = (shop: Shop, fault: Pick<Fault, 'plant'>) => startPlanted(shop.serving.origin, fault, shop)

/** The bodies of the creations in an archive, without identifiers that the server chose. */
async function sentIn(archive: string): Promise<readonly string[]> {
  const { log } = JSON.parse(await readFile(archive, 'utf8')) as { readonly log: { readonly entries: Entry[] } }
  const bodies = log.entries.flatMap(({ request: { method, postData } }) => (method === 'POST' && postData?.text) || [])
  assert.ok(bodies.some((each) => each.includes('checked-')))
  return bodies.map((each) => each.replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, '')).sort()
}

interface Entry {
  readonly request: { readonly method: string; readonly postData?: { readonly text: string } }
  readonly response: { readonly status: number }
}

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

function start(given: readonly string[], environment: Readonly<Record<string, string>> = {}): ChildProcess {
  return spawn(process.execPath, [commandFile, 'check', ...given], {
    env: { ...process.env, NO_COLOR: '1', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function ended(child: ChildProcess): Promise<Ended> {
  let [out, err] = ['', '']
  child.stdout?.on('data', (chunk) => (out += chunk))
  child.stderr?.on('data', (chunk) => (err += chunk))
  const [code] = await once(child, 'close')
  return { code, out, err }
}

const check = (...given: readonly string[]) => ended(start(given))

describe('resourced check', () => {
  let shop: Shop
  let folder: string
  let url: string
  const count = async () => {
    const answers = await Promise.all(
      shop.profile.collections.map(({ path }) =>
        fetch(`${shop.profile.base}${path}`, { headers: { Authorization: `Bearer ${shop.key}` } }),
      ),
    )
    const bodies = (await Promise.all(answers.map((each) => each.json()))) as { pagination: { total_count: number } }[]
    return bodies.reduce((sum, { pagination }) => sum + pagination.total_count, 0)
  }
  before(async () => {
    shop = await serveShop()
    folder = await mkdtemp(join(tmpdir(), 'resourced-check-'))
    url = shop.profile.base
  })
  after(async () => {
    await shop.serving.close()
    await rm(folder, { recursive: true })
  })

  it('prints its plan, checks, deletes its records, and ends with 0', async () => {
    const { code, out, err } = await check(url, '--key', shop.key, '--yes', '--only', 'con-3')
    assert.equal(code, 0, err)
    assert.match(err, /OpenAPI document: http.*openapi\.json/)
    assert.match(err, /The checker creates records in .*and deletes them again/)
    assert.match(err, /stay in the recycle bin/)
    assert.match(out, /✔ Safety {3}\d+ of \d+ hold/)
    assert.equal(await count(), 0)
  })

  it('needs --yes or --read-only without a terminal', async () => {
    const { code, out, err } = await check(url, '--key', shop.key)
    assert.deepEqual([code, out], [2, ''])
    assert.match(err, /--yes.*--read-only/)
  })

  it('ends with 1 if a rule that must hold fails, and keeps secrets out of every report', async () => {
    const planted = await startBefore(shop, {
      plant: (server) => async (request) => {
        const answer = await server(request)
        return { ...answer, status: answer.status === 412 ? 200 : answer.status }
      },
    })
    try {
      const base = url.replace(shop.serving.origin, planted.origin)
      for (const format of ['text', 'json', 'junit', 'markdown', 'html']) {
        const given = [base, '--key', shop.key, '--yes', '--only', 'CON-3', '--format', format]
        const { code, out, err } = await check(...given)
        assert.equal(code, 1, err)
        assert.ok(out.includes('CON-3'), format)
        assert.ok(!`${out}${err}`.includes(shop.key), format)
      }
    } finally {
      await planted.close()
    }
  })

  it('reads keys from the environment, and other credentials from header fields', async () => {
    const given = [url, '--yes', '--only', 'CON-4']
    const byName = await ended(start(given, { RESOURCED_CHECK_KEY: shop.key }))
    assert.equal(byName.code, 0, byName.err)
    const byField = await check(...given, '--header', `authorization: Bearer ${shop.key}`)
    assert.equal(byField.code, 0, byField.err)
  })

  it('writes a profile, never over an existing file, and reads it', async () => {
    const file = join(folder, 'profile.yaml')
    const made = await check('--init', url, '--key', shop.key, '--output', file)
    assert.equal(made.code, 0, made.err)
    assert.match(await readFile(file, 'utf8'), /\n {2}items:\n/)
    const again = await check('--init', url, '--key', shop.key, '--output', file)
    assert.equal(again.code, 2)
    assert.match(again.err, /exists already/)
    const used = await check(url, '--key', shop.key, '--profile', file, '--yes', '--only', 'CON-2')
    assert.equal(used.code, 0, used.err)
    await writeFile(file, 'collections: { items: { operations: [lst] } }')
    const wrong = await check(url, '--key', shop.key, '--profile', file, '--yes')
    assert.equal(wrong.code, 2)
    assert.match(wrong.err, /collections\.items\.operations\.0: has to be one of/)
  })

  it('saves a report, and compares a later one with it', async () => {
    const file = join(folder, 'report.json')
    const given = [url, '--key', shop.key, '--yes', '--only', 'CON-2']
    const [first, archive] = [join(folder, 'first.har'), join(folder, 'run.har')]
    assert.equal((await check(...given, '--save', file, '--record', first)).code, 0)
    const { seed } = JSON.parse(await readFile(file, 'utf8'))
    const again = [...given, '--compare', file, '--record', archive, '--seed', String(seed)]
    assert.match((await check(...again)).out, new RegExp(`, seed ${seed}\n[\\s\\S]*Nothing has changed\\.`))
    assert.deepEqual(await sentIn(first), await sentIn(archive), 'a seed repeats all bodies')
    const recorded = await readFile(archive, 'utf8')
    assert.ok(!recorded.includes(shop.key) && recorded.includes('Bearer $KEY'))
    const { log } = JSON.parse(recorded)
    assert.equal(log.version, '1.2')
    assert.ok(log.entries.some(({ request, response }: Entry) => request.method === 'POST' && response.status === 201))
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll(url, 'https://other.example/v1'))
    const other = await check(...given, '--compare', file)
    assert.deepEqual([other.code, other.out], [2, ''])
    assert.match(other.err, /is a report on https:\/\/other\.example\/v1, and this run checks http/)
    await writeFile(file, '{}')
    const { code, err } = await check(...given, '--compare', file)
    assert.equal(code, 2)
    assert.match(err, /no report that --save wrote/)
  })

  it('sends safe requests only with --read-only', async () => {
    const methods = new Set<string>()
    const planted = await startBefore(shop, {
      plant: (server) => (request) => {
        methods.add(request.method)
        return server(request)
      },
    })
    try {
      await check(url.replace(shop.serving.origin, planted.origin), '--key', shop.key, '--read-only')
      assert.deepEqual(
        [...methods].filter((each) => !['GET', 'HEAD', 'OPTIONS'].includes(each)),
        [],
      )
    } finally {
      await planted.close()
    }
  })

  it('ends with 2 and advice if a server or a command line cannot be used', async () => {
    const refused: readonly (readonly [given: readonly string[], says: RegExp])[] = [
      [[url, '--yes'], /answers 401 to every request.*--key/],
      [[url, '--yes', '--key', 'wrong'], /also with the given credential/],
      [['http://127.0.0.1:9', '--yes'], /nothing listens there/],
      [[url.replace('http:', 'https:'), '--yes'], /Perhaps it speaks plain HTTP/],
      [['ftp://x'], /an HTTP address/],
      [[url, '--only', 'XYZ'], /--only takes sections and rules/],
      [[url, '--details', 'CON-3/stall-delete'], /--details takes rules and cases.*CON-3\/stale-delete/],
      [[url, '--key', 'two words'], /--key takes a key without spaces/],
      [[url, '--header', 'nonsense'], /--header takes a header field/],
      [[url, '--openapi', '/nowhere.json', '--key', shop.key], /no OpenAPI document at \/nowhere\.json/],
      [[url, '--cacert', '/nowhere.pem'], /--cacert: \/nowhere\.pem cannot be read/],
      [[url, '--concurrency', 'many'], /--concurrency takes a number/],
      [[url, '--seed', 'x'], /--seed takes the number/],
      [[url, '--collection', 'nothings', '--key', shop.key], /no collection nothings/],
      [[url, '--frob'], /unknown option/],
      [[], /missing required argument/],
    ]
    const all = refused.values()
    const work = async () => {
      for (const [given, says] of all) await refuse(given, says)
    }
    const refuse = async (given: readonly string[], says: RegExp) => {
      const { code, out, err } = await check(...given)
      assert.deepEqual([code, out], [2, ''], err)
      assert.match(err, says)
      assert.ok(!err.includes('    at '), err)
    }
    await Promise.all([work(), work()])
  })

  it('deletes its records when it is stopped, and ends at once the second time', async () => {
    let posts = 0
    const planted = await startBefore(shop, {
      plant: (server) => async (request) => {
        if (request.method === 'POST') posts++
        await new Promise((resolve) => setTimeout(resolve, 30))
        return server(request)
      },
    })
    try {
      const child = start([url.replace(shop.serving.origin, planted.origin), '--key', shop.key, '--yes'])
      const end = ended(child)
      while (posts < 3) await new Promise((resolve) => setTimeout(resolve, 5))
      child.kill('SIGINT')
      const { code, err } = await end
      assert.equal(code, 130, err)
      assert.match(err, /Stopping: the check deletes what it created/)
      assert.equal(await count(), 0)
    } finally {
      await planted.close()
    }
  })

  it('stops and ends with 3 if the server dies', async () => {
    let posts = 0
    const planted = await startBefore(shop, {
      plant: (server) => (request) => {
        if (request.method === 'POST' && ++posts === 4) void planted.close()
        return server(request)
      },
    })
    const { code, out, err } = await check(url.replace(shop.serving.origin, planted.origin), '--key', shop.key, '--yes')
    assert.equal(code, 3, err)
    assert.match(err, /The server stopped answering, and the check stopped\. .*ECONNREFUSED/)
    assert.match(err, /Records whose creation it did not answer may be left/)
    assert.doesNotMatch(out, /cannot be read any more/)
  })

  it('ends at once when it is stopped twice', async () => {
    const silent = createServer(() => {})
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const child = start([`http://127.0.0.1:${(silent.address() as AddressInfo).port}`, '--yes'])
    const end = ended(child)
    await once(silent, 'request')
    child.kill('SIGINT')
    child.stderr?.once('data', () => child.kill('SIGINT'))
    const { code } = await end
    silent.closeAllConnections()
    silent.close()
    // The second signal may end it (128 and 2, for a shell) before its own end does.
    assert.ok(code === 130 || child.signalCode === 'SIGINT', `${code} ${child.signalCode}`)
  })

  it('hides its key in lists of processes', {
    skip: process.platform !== 'linux' && 'reads /proc',
  }, async () => {
    const silent = createServer(() => {})
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const child = start([`http://127.0.0.1:${(silent.address() as AddressInfo).port}`, '--key', 'opensesame', '--yes'])
    const end = ended(child)
    await once(silent, 'request')
    const told = (await readFile(`/proc/${child.pid}/cmdline`, 'utf8')).replaceAll('\0', ' ')
    child.kill('SIGKILL')
    await end
    silent.closeAllConnections()
    silent.close()
    assert.ok(told.includes('check') && !told.includes('opensesame'), told)
  })
})
