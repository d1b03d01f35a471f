/**
 * Runs the examples of a documentation page in a folder of its own, in order, as a reader would. The words after the
 * language of a code block say what happens with it (CONTRIBUTING.md lists them).
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { commandFile } from '../command-file.ts'
import { freePort } from '../postgres/free-port.ts'

/** A code block of a page. */
export interface Block {
  readonly language: string
  /** The words after the language: a file name, or `server`. */
  readonly words: readonly string[]
  readonly text: string
  /** The number of its first line, from 1. */
  readonly line: number
  /** Why it does not run; from a comment `<!-- not run: … -->` on the line before it. */
  readonly reason?: string
}

/** The code blocks of a page, in order. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = []
  const lines = markdown.split('\n')
  for (let index = 0; index < lines.length; index++) {
    const [, fence, language, words] = /^\s*(`{3,})(\w*) *(.*)$/.exec(lines[index] ?? '') ?? []
    if (fence === undefined) continue
    const end = lines.findIndex((line, other) => other > index && line.trim() === fence)
    assert.notEqual(end, -1, `the code block of line ${index + 1} does not end`)
    const reason = /^\s*<!-- not run: (.+) -->$/.exec(lines[index - 1] ?? '')?.[1]
    const text = lines.slice(index + 1, end).join('\n')
    const more = reason === undefined ? {} : { reason }
    blocks.push({
      language: language ?? '',
      words: (words ?? '').split(' ').filter(Boolean),
      text,
      line: index + 2,
      ...more,
    })
    index = end
  }
  return blocks
}

const root = join(import.meta.dirname, '../..')
const files = new Set([
  'yaml',
  'json',
  'ts',
  'js',
  'mjs',
  'tsx',
  'csv',
  'ndjson',
  'sql',
  'ini',
  'nginx',
  'dockerfile',
  'text',
])
/** The ports that pages name. Each is replaced by a free one. */
const ports = ['8080', '8081', '8443', '8444', '9464', '3000']
const portName = new RegExp(`\\b(?:${ports.join('|')})\\b`, 'g')
const limit = 120_000

/** Whether something happens with a block, so that a mistake in it can be noticed. */
export function runs({ language, words: [word] }: Block): boolean {
  return language === 'text' || ['sh', 'json'].includes(language) || (word !== undefined && files.has(language))
}

/** Where a page's examples run. */
interface Place {
  readonly folder: string
  readonly environment: NodeJS.ProcessEnv
  /** Replaces what differs on the reader's machine: ports, and the address of a PostgreSQL database. */
  readonly adapted: (text: string) => string
  /** Replaces ports only, as in what a page says is printed. */
  readonly withPorts: (text: string) => string
}

/** Runs the blocks of a page. A block that fails is named by the page and its line. */
export async function runPage(context: TestContext, path: string, database?: string): Promise<void> {
  const blocks = blocksOf(readFileSync(join(root, path), 'utf8'))
  const place = await placeFor(context, database)
  const shell = startShell(context, place)
  let server: Listener | undefined
  let printed = ''
  for (const { language, words, text, line, reason } of blocks) {
    const where = `${path}:${line}`
    if (reason !== undefined) continue
    const [word] = words
    if (language === 'sh' && word === 'server') {
      if (server !== undefined) await stop(server.child)
      server = await startListener(context, place, text, where)
    } else if (language === 'sh') {
      printed = await shell(withCopies(text, printed, server?.printed() ?? ''), where)
    } else if (language === 'text' && word === 'output') {
      assertLines(printed, place.withPorts(text), where)
    } else if (language === 'text' && word === 'server') {
      assert.ok(server, `${where}: no server runs`)
      await server.prints(place.withPorts(text), where)
    } else if (language === 'json' && word === undefined) {
      assertPrinted(printed, text, where)
    } else if (word !== undefined && files.has(language)) {
      const file = join(place.folder, word)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(
        file,
        words[1] === 'part' ? withPart(readFileSync(file, 'utf8'), text, where) : `${place.adapted(text)}\n`,
      )
    }
  }
}

async function placeFor(context: TestContext, database: string | undefined): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-page-'))
  context.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  const programs = join(folder, 'programs')
  mkdirSync(programs)
  mkdirSync(join(folder, 'work/node_modules'), { recursive: true })
  symlinkSync(join(root, 'packages/server'), join(folder, 'work/node_modules/resourced'))
  mkdirSync(join(folder, 'work/node_modules/.bin'))
  symlinkSync(commandFile, join(folder, 'work/node_modules/.bin/resourced'))
  const command = `exec '${process.execPath}' '${commandFile}' "$@"`
  const check = '[ "$1" = resourced ] || { echo "npx $1 is not installed here" >&2; exit 1; }'
  const npx = `#!/bin/sh\n${check}\nshift\n${command}\n`
  // The package is in place already.
  const npm = '#!/bin/sh\ncase "$1" in install|init|ci) exit 0;; esac\necho "npm $1 does not run here" >&2; exit 1\n'
  const psql = `#!/bin/sh\nexec '${process.execPath}' '${join(import.meta.dirname, 'psql.ts')}' "$@"\n`
  for (const [name, script] of Object.entries({ npx, npm, psql, resourced: `#!/bin/sh\n${command}\n` })) {
    writeFileSync(join(programs, name), script, { mode: 0o755 })
  }
  const free = new Map<string, number>()
  for (const port of ports) free.set(port, await freePort())
  const withPorts = (text: string) => text.replace(portName, (port) => String(free.get(port)))
  const named = (text: string) =>
    text
      .replace(/\bresourced dev\b(?!.*--port)/g, `resourced dev --port 8080`)
      .replace(/\bresourced serve\b(?!.*--port)/g, `resourced serve --port 8443`)
  const adapted = (text: string) =>
    withPorts(named(text)).replace(/postgres:\/\/[^\s'")]+/g, (address) => database ?? address)
  // With NODE_TEST_CONTEXT, the tests of a page would not run inside a test.
  const { NODE_OPTIONS: _, TEST_ENGINE: __, NODE_TEST_CONTEXT: ___, ...inherited } = process.env
  const path = `${programs}:${dirname(process.execPath)}:${process.env['PATH']}`
  // The tests' PostgreSQL does not wait for the disk.
  const environment = { ...inherited, PATH: path, HOME: folder, DATABASE_UNSAFE: 'true' }
  return { folder: join(folder, 'work'), environment, adapted, withPorts }
}

/** One shell for all blocks, so that variables and aliases stay. Every command must succeed. */
function startShell(context: TestContext, { folder, environment, adapted }: Place) {
  const child = spawn('bash', ['--noprofile', '--norc'], { cwd: folder, env: environment, detached: true })
  context.after(() => stop(child))
  let output = ''
  child.stdout.on('data', (piece) => (output += String(piece)))
  // As on a terminal, messages are among the output.
  child.stdin.write('exec 2>&1; shopt -s expand_aliases; set -E -o pipefail; trap \'failed="$BASH_COMMAND"\' ERR\n')
  return async (text: string, where: string): Promise<string> => {
    output = ''
    const end = `--end of ${where}--`
    child.stdin.write(`failed=\n${adapted(text)}\nprintf '%s%s\\n' '${end}' "$failed"\n`)
    for (const deadline = performance.now() + limit; !new RegExp(`${end}.*\\n`).test(output); await sleep(20)) {
      assert.equal(child.exitCode, null, `${where}: the shell ended. ${output}`)
      assert.ok(performance.now() < deadline, `${where} did not end. ${output}`)
    }
    const [before = '', after = ''] = output.split(end)
    assert.equal(after.trim(), '', `${where}: a command failed. ${before}`)
    return before
  }
}

/** What runs in a terminal of its own. */
interface Listener {
  readonly child: ChildProcess
  readonly printed: () => string
  /** Waits until it has printed the lines of a page after those that were waited for before. */
  readonly prints: (text: string, where: string) => Promise<void>
}

const address = /https?:\/\/[\w.[\]:]+:\d+/g

/** Starts what runs in a terminal of its own, and waits until each server of it prints where it listens. */
async function startListener(
  context: TestContext,
  { folder, environment, adapted }: Place,
  text: string,
  where: string,
): Promise<Listener> {
  const servers = text.match(/\bresourced (?:serve|dev)\b/g)?.length ?? 1
  const child = spawn('bash', ['-c', adapted(text)], { cwd: folder, env: environment, detached: true })
  context.after(() => stop(child))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (output += String(piece)))
  const isReady = () => new Set(output.match(address)).size >= servers
  for (const deadline = performance.now() + limit; !isReady(); await sleep(20)) {
    assert.equal(child.exitCode, null, `${where}: the server ended. ${output}`)
    assert.ok(performance.now() < deadline, `${where} does not listen. ${output}`)
  }
  let seen = 0
  const prints = async (text: string, where: string) => {
    for (const deadline = performance.now() + limit; ; await sleep(20)) {
      const lines = output.split('\n').slice(0, -1)
      const end = endOfLines(lines.slice(seen), text)
      if (typeof end === 'string') {
        assert.equal(child.exitCode, null, `${where}: the server ended. ${output}`)
        assert.ok(performance.now() < deadline, `${where}: "${end}" was not printed. ${output}`)
        continue
      }
      seen += end
      return
    }
  }
  return { child, printed: () => output, prints }
}

/** Ends a shell and all that it started. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const ended = once(child, 'close')
  process.kill(-child.pid, 'SIGTERM')
  const timer = setTimeout(() => process.kill(-Number(child.pid), 'SIGKILL'), 15_000)
  await ended
  clearTimeout(timer)
}

/**
 * Gives variables what a reader copies from the output: `KEY=rsk_…` takes what begins like that, and `ID=01a1fe02-…`
 * the last id that was printed.
 */
function withCopies(text: string, printed: string, ofServer: string): string {
  return text.replace(/^((?:export )?\w+=)([\w-]+)…/gm, (_, name: string, prefix: string) => {
    const begun = new RegExp(`${RegExp.escape(prefix)}[\\w-]+`).exec(`${printed}\n${ofServer}`)
    const ids = [...printed.matchAll(/"id":"([^"]+)"/g)]
    return name + (begun?.[0] ?? ids.at(-1)?.[1] ?? assert.fail(`nothing printed begins with ${prefix}`))
  })
}

/** A YAML file in which a part replaces what begins with the same line, with all that is indented below. */
function withPart(file: string, part: string, where: string): string {
  const [first = ''] = part.split('\n')
  const lines = file.split('\n')
  const start = lines.indexOf(first)
  assert.notEqual(start, -1, `${where}: the file has no line "${first}"`)
  const depth = first.search(/\S/)
  const after = lines.findIndex((line, index) => index > start && line.search(/\S|$/) <= depth)
  return [...lines.slice(0, start), part, ...lines.slice(after === -1 ? lines.length : after)].join('\n')
}

/** What differs in each run: ids and times. */
const changing = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|\b[\da-f]{8}-…|\d{4}-\d\d-\d\dT[\d:.]+Z/g

/** Fails unless a JSON value of the page was printed, but for ids, times and what the page abbreviates by `…`. */
function assertPrinted(printed: string, text: string, where: string): void {
  const parts = JSON.stringify(JSON.parse(text)).replace(changing, '…').split('…')
  const expected = new RegExp(parts.map((part) => RegExp.escape(part)).join('[^"]*'))
  const found = printed.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1')
  assert.match(found, expected, `${where}: this is not what was printed: ${printed}`)
}

/** Fails unless each line of the page was printed, in this order. `…` matches anything, and so do ids and times. */
function assertLines(printed: string, text: string, where: string): void {
  const end = endOfLines(printed.split('\n'), text)
  assert.ok(typeof end === 'number', `${where}: "${end}" is not in what was printed: ${printed}`)
}

/** The number of the printed line after the last one of the page; or the line of the page that was not printed. */
function endOfLines(printed: readonly string[], text: string): number | string {
  let end = 0
  for (const line of text.split('\n').filter((line) => line.trim() !== '')) {
    const parts = line.trim().replace(changing, '…').split('…')
    const expected = new RegExp(`^${parts.map((part) => RegExp.escape(part)).join('.*')}$`)
    const found = printed.findIndex((each, index) => index >= end && expected.test(each.trim()))
    if (found === -1) return line
    end = found + 1
  }
  return end
}
