/**
 * Checks servers that others made, and writes a table of what was seen: `node scripts/check-foreign-servers.ts`. They are
 * installed outside of this repository, started on loopback, and stopped.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Competitor, folderOf, install, jsonServer, platformatic } from '../bench/competitors.ts'
import { rules } from '../src/spec/rules.ts'

const root = join(import.meta.dirname, '..')
const examples = join(root, 'examples/check')

interface Checked extends Competitor {
  readonly profile: string
  /** Prepares its folder, and says what Node is to run there. */
  readonly start: (folder: string, packages: string, port: number) => readonly string[]
}

const competitors: readonly Checked[] = [
  {
    ...jsonServer,
    profile: 'json-server.yaml',
    start(folder, packages, port) {
      writeFileSync(join(folder, 'db.json'), '{ "authors": [{ "id": 1, "name": "Ann" }], "books": [] }')
      const program = join(packages, 'node_modules/json-server/lib/cli/bin.js')
      return [program, '--quiet', '--host', '127.0.0.1', '--port', String(port), join(folder, 'db.json')]
    },
  },
  {
    ...platformatic,
    profile: 'platformatic.yaml',
    start(folder, packages, port) {
      const database = join(folder, 'books.db')
      const tables = new DatabaseSync(database)
      tables.exec(readFileSync(join(examples, 'books.sql'), 'utf8'))
      tables.close()
      return [join(root, 'bench/platformatic.ts'), packages, folder, database, String(port)]
    },
  },
  {
    name: 'made by hand with Fastify',
    package: 'fastify@5.12.8',
    profile: 'fastify-server.yaml',
    start(_, packages) {
      // Where it finds what it imports.
      copyFileSync(join(examples, 'fastify-server.js'), join(packages, 'fastify-server.js'))
      return [join(packages, 'fastify-server.js')]
    },
  },
]

interface SeenRule {
  readonly rule: { readonly id: string }
  readonly verdict: string
  readonly cases: readonly { readonly verdict: string; readonly level: string }[]
}

interface Seen {
  readonly name: string
  readonly rules: readonly SeenRule[]
  readonly seconds: number
  readonly requests: number
}

const seen: Seen[] = []
for (const competitor of competitors) seen.push(await check(competitor))
const rows = rules.flatMap(({ id, level }) => {
  const said = seen.map((each) => signOf(each.rules.find(({ rule }) => rule.id === id)))
  return said.every((sign) => sign === '') ? [] : [`| ${id} | ${level} | ${said.join(' | ')} |`]
})
const told = seen.map(({ name, requests, seconds }) => `${name}: ${requests} requests in ${seconds} s`)
process.stdout.write(`${new Date().toISOString().slice(0, 10)}. ${told.join('; ')}.

| rule | level | ${seen.map(({ name }) => name).join(' | ')} |
| --- | --- |${' --- |'.repeat(seen.length)}
${rows.join('\n')}
`)

/** What fails of a must is told from what only should be so. */
function signOf(seen: SeenRule | undefined): string {
  if (seen === undefined || seen.verdict === 'not applicable') return ''
  if (seen.verdict === 'holds') return '✔'
  if (seen.verdict !== 'fails' && seen.verdict !== 'advice') return seen.verdict
  return seen.cases.some(({ verdict, level }) => verdict === 'fails' && level === 'must') ? '✖' : '~'
}

async function check(competitor: Checked): Promise<Seen> {
  install(competitor)
  const packages = folderOf(competitor)
  const folder = mkdtempSync(join(tmpdir(), 'resourced-competitor-'))
  const port = await freePort()
  const args = competitor.start(folder, packages, port)
  const env = { ...process.env, PORT: String(port) }
  const server = spawn(process.execPath, args, { cwd: folder, env, stdio: 'ignore' })
  const base = `http://127.0.0.1:${port}`
  try {
    await answering(`${base}/authors`)
    const file = join(folder, 'report.json')
    const words = ['check', base, '--profile', join(examples, competitor.profile), '--yes', '--save', file]
    const options = { stdio: ['ignore', 'ignore', 'inherit'] as const }
    const { status } = spawnSync(process.execPath, [join(root, 'src/cli/main.js'), ...words], {
      stdio: [...options.stdio],
    })
    if (!existsSync(file)) throw new Error(`${competitor.name} could not be checked (${status}).`)
    return {
      ...(JSON.parse(readFileSync(file, 'utf8')) as Omit<Seen, 'name'>),
      name: `${competitor.name} (${competitor.package})`,
    }
  } finally {
    server.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

async function answering(url: string): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    const answer = await fetch(url).catch(() => undefined)
    if (answer !== undefined) return
    await sleep(100)
  }
  throw new Error(`Nobody answers at ${url}.`)
}
