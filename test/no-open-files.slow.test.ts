/**
 * OPS-5: a server that cannot open a file any more lives on, and serves everything once it can: nothing is loaded later
 * that it needs, and no failure is remembered.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { claimsAt, pairOf, sign } from '../packages/server/src/policy/jwt.fixture.ts'
import { createKey, startServer } from './durability/command.ts'
import { engine, newDatabase } from './engine.ts'
import { fastFolder } from './postgres/account.ts'

const hasLimits = spawnSync('prlimit', ['--version']).error === undefined
const skip = hasLimits ? false : 'needs prlimit, which only Linux has'
const folder = mkdtempSync(join(fastFolder(), 'resourced-files-'))
after(() => rmSync(folder, { recursive: true }))

const anyone = { read: 'anyone', create: 'anyone' }
const declaration = {
  name: 'diary',
  resources: { notes: { fields: { text: { type: 'string' } }, access: anyone, events: true } },
}

/** The status of an answer. An answer that goes on is not awaited. */
function statusOf(address: string, agent: Agent, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(address, { agent, headers }, (answer) => {
      const { statusCode = 0, headers } = answer
      if (headers['content-type']?.startsWith('text/event-stream')) answer.destroy()
      else answer.resume().on('error', reject)
      answer.on('close', () => resolve(statusCode))
    })
    sent.on('error', reject).end()
  })
}

test('a server without a free file descriptor lives on, and serves everything once it has some', {
  skip,
  timeout: 120_000,
}, async (context) => {
  mkdirSync(join(folder, 'data'), { recursive: true })
  writeFileSync(join(folder, 'diary.json'), JSON.stringify(declaration))
  const pair = await pairOf('key')
  writeFileSync(join(folder, 'keys.json'), JSON.stringify({ keys: [pair.jwk] }))
  const claims = claimsAt(Date.now())
  const address = engine === 'sqlite' ? undefined : (await newDatabase()).address
  const key = `Bearer ${createKey(folder, address)}`
  const token = `Bearer ${await sign(pair, claims)}`
  const jwt = [
    '--jwt-issuer',
    String(claims.iss),
    '--jwt-audience',
    String(claims.aud),
    '--jwt-algorithms',
    'ES256,RS256',
  ]
  const server = await startServer(folder, ['--http', ...jwt, '--jwt-jwks', join(folder, 'keys.json')], {}, address)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  context.after(() => {
    agent.destroy()
    server.child.kill('SIGKILL')
  })
  const ask = (path: string, authorization = key, more = {}) =>
    statusOf(`${server.origin}${path}`, agent, { authorization, ...more })
  // It has read once, and its connection is open.
  assert.equal(await ask('/v1/notes'), 200)
  const pid = server.child.pid as number
  const used = new Set(readdirSync(`/proc/${pid}/fd`).map(Number))
  let free = 0
  while (used.has(free)) free++
  const limit = (count: number) =>
    assert.equal(spawnSync('prlimit', ['--pid', `${pid}`, `--nofile=${count}:`]).status, 0)
  limit(free)
  const stream = { accept: 'text/event-stream' }
  for (const tried of [
    ask('/docs'),
    ask('/health/metrics'),
    ask('/v1/events', key, { ...stream, 'last-event-id': 'unknown' }),
  ]) {
    await tried.catch(() => undefined)
  }
  // Longer than anything waits that is done some time after the start.
  await sleep(7_000)
  assert.equal(server.child.exitCode, null, server.errors.join(''))
  limit(free + 500)
  for (const [path, credential, more] of [
    ['/v1/notes', key, {}],
    ['/v1/notes', token, {}],
    ['/health/metrics', key, {}],
    ['/docs', key, {}],
    ['/console', key, {}],
    ['/v1/events', key, stream],
  ] as const) {
    assert.equal(await ask(path, credential, more), 200, `${path} ${server.log.join()} ${server.errors.join('')}`)
  }
})
