/** Installs servers of other stacks with the package managers of their stacks, outside of the sources. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'

interface Stack {
  /** The file that shows that a server belongs to the stack. */
  readonly file: string
  /** The file with the exact versions. */
  readonly lock: string
  readonly tool: string
  readonly commands: readonly (readonly string[])[]
}

const stacks: readonly Stack[] = [
  {
    file: 'package.json',
    lock: 'package-lock.json',
    tool: 'npm',
    commands: [
      ['npm', 'ci', '--no-audit', '--no-fund'],
      ['npm', 'run', 'build', '--if-present'],
    ],
  },
  {
    file: 'requirements.txt',
    lock: 'requirements.txt',
    tool: 'python3',
    commands: [
      ['python3', '-m', 'venv', 'venv'],
      ['venv/bin/pip', 'install', '--quiet', '--no-deps', '--requirement', 'requirements.txt'],
    ],
  },
  { file: 'go.mod', lock: 'go.sum', tool: 'go', commands: [['go', 'build', '-mod=readonly', '-o', 'server', '.']] },
  { file: 'pom.xml', lock: 'pom.xml', tool: 'mvn', commands: [['mvn', '--batch-mode', '--quiet', 'package']] },
]

/**
 * Installs a server, unless it is installed already.
 *
 * @param source the folder with its sources
 * @param target the folder that contains the installed servers
 * @returns the folder with the installed server
 * @throws Error if the stack is missing on this machine, or with the end of the package manager's output
 */
export async function installStranger(source: string, target: string): Promise<string> {
  const folder = join(target, basename(source))
  const stack = stackOf(source)
  const stamp = join(folder, '.installed')
  const hash = hashOf(source)
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return folder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  cpSync(source, folder, { recursive: true })
  for (const command of stack.commands) await run(command, folder, stack.tool)
  writeFileSync(stamp, hash)
  return folder
}

/** The version of a package in the lock file of a server. */
export function versionOf(source: string, name: string): string {
  const lock = readFileSync(join(source, stackOf(source).lock), 'utf8')
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const forms = [
    `"node_modules/${escaped}": \\{\\s*"version": "([^"]+)"`,
    `^${escaped}==(\\S+)$`,
    `^${escaped} v(\\S+) h1:`,
    `<artifactId>${escaped}</artifactId>\\s*<version>([^<]+)<`,
  ]
  return forms.map((form) => new RegExp(form, 'mi').exec(lock)?.[1]).find((version) => version !== undefined) ?? '?'
}

function stackOf(source: string): Stack {
  const stack = stacks.find(({ file }) => existsSync(join(source, file)))
  if (stack === undefined) throw new Error(`${source} contains none of ${stacks.map(({ file }) => file).join(', ')}`)
  return stack
}

function hashOf(source: string): string {
  const hash = createHash('sha256')
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name === 'confirmed.json' || entry.name === 'stranger.json') continue
    hash.update(entry.name).update(readFileSync(join(entry.parentPath, entry.name)))
  }
  return hash.digest('hex')
}

async function run([program = '', ...args]: readonly string[], folder: string, tool: string): Promise<void> {
  const path = [process.env['PATH'], '/usr/local/go/bin'].join(delimiter)
  // Native modules are compiled for the Node.js that runs them.
  const env = {
    ...process.env,
    PATH: path,
    GOTOOLCHAIN: 'local',
    npm_config_nodedir: dirname(dirname(process.execPath)),
  }
  const child = spawn('nice', ['-n', '10', program, ...args], { cwd: folder, env })
  const output: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk))
  const [code] = await once(child, 'close')
  if (code === 127) throw new Error(`skipped: ${tool} is not on this machine`)
  if (code !== 0) throw new Error(`${program} failed: ${Buffer.concat(output).toString().trim().slice(-300)}`)
}
