/**
 * Builds the image of a Dockerfile without a container engine: each stage is a folder, each step does there what an
 * engine would do in the root of the image. It knows the instructions that our Dockerfiles use, and refuses others.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, chown, cp, glob, mkdir, readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** An image: the root of its files, and how its container starts. */
export interface Image {
  readonly root: string
  readonly environment: Readonly<Record<string, string>>
  readonly workdir: string
  readonly user: string
  readonly volumes: readonly string[]
  readonly ports: readonly number[]
  readonly stopSignal: string
  readonly healthcheck: readonly string[]
  readonly command: readonly string[]
}

type Building = { -readonly [name in keyof Image]: Image[name] }

/** Where an image is built. */
export interface Build {
  readonly dockerfile: string
  /** The folder whose files `COPY` takes. */
  readonly context: string
  /** A new folder for the stages: each is a folder right in it. */
  readonly folder: string
  /** The folder of the `node` that stands for the one of the base image. */
  readonly node: string
}

/** The user `node` of the official images. */
export const nodeUser = 1000

/** Builds the last stage, and gives it. */
export async function buildImage({ dockerfile, context, folder, node }: Build): Promise<Image> {
  const stages = new Map<string, Building>()
  let image: Building | undefined
  for (const { instruction, rest } of instructionsOf(dockerfile)) {
    if (instruction === 'FROM') {
      const [base = '', , name = String(stages.size)] = rest.split(/\s+/)
      assert.match(base, /^node:\d+(?:\.\d+)*-slim$/, `${base} is no slim image of Node.js of a stated version`)
      image = await baseImage(join(folder, `stage-${stages.size}`), node)
      stages.set(name, image)
      continue
    }
    assert.ok(image, `${instruction} comes before FROM`)
    await step(image, instruction, rest, { stages, context })
  }
  assert.ok(image, 'there is no stage')
  return image
}

async function baseImage(root: string, node: string): Promise<Building> {
  await mkdir(join(root, 'tmp'), { recursive: true })
  const nothing = { volumes: [], ports: [], healthcheck: [], command: [] }
  return {
    root,
    environment: { PATH: `${node}:/usr/local/bin:/usr/bin:/bin` },
    workdir: '/',
    user: 'root',
    stopSignal: '',
    ...nothing,
  }
}

/** The instructions of a Dockerfile, comments left out and continued lines joined. */
function instructionsOf(text: string): { readonly instruction: string; readonly rest: string }[] {
  return text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, instruction = '', rest = ''] = /^\s*(\w+)\s+(.*)$/.exec(line) ?? []
      return { instruction: instruction.toUpperCase(), rest: rest.trim() }
    })
}

async function step(
  image: Building,
  instruction: string,
  rest: string,
  { stages, context }: { readonly stages: ReadonlyMap<string, Building>; readonly context: string },
): Promise<void> {
  switch (instruction) {
    case 'WORKDIR':
      image.workdir = resolve(image.workdir, rest)
      await mkdir(join(image.root, image.workdir), { recursive: true })
      return
    case 'ENV': {
      const pairs = [...rest.matchAll(/(\w+)=("[^"]*"|\S+)/g)].map(([, name, value = '']) => [
        name,
        value.replaceAll('"', ''),
      ])
      image.environment = { ...image.environment, ...Object.fromEntries(pairs) }
      return
    }
    case 'COPY':
      return copy(image, rest, { stages, context })
    case 'RUN':
      return runIn(image, rest)
    case 'USER':
      image.user = rest
      return
    case 'VOLUME':
      image.volumes = [...image.volumes, rest]
      return
    case 'EXPOSE':
      image.ports = [...image.ports, Number(rest)]
      return
    case 'STOPSIGNAL':
      image.stopSignal = rest
      return
    case 'HEALTHCHECK':
      image.healthcheck = JSON.parse(rest.slice(rest.indexOf('[')))
      return
    case 'ENTRYPOINT':
    case 'CMD':
      image.command = [...image.command, ...JSON.parse(rest)]
      return
    default:
      assert.fail(`${instruction} is not known here`)
  }
}

async function copy(
  image: Building,
  rest: string,
  { stages, context }: { readonly stages: ReadonlyMap<string, Building>; readonly context: string },
): Promise<void> {
  const words = rest.split(/\s+/)
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length)
  const paths = words.filter((word) => !word.startsWith('--'))
  const to = paths.pop() ?? ''
  const source = from === undefined ? context : stages.get(from)?.root
  assert.ok(source, `there is no stage ${from}`)
  const target = join(image.root, to.startsWith('/') ? to : join(image.workdir, to))
  const found = (
    await Promise.all(paths.map((path) => Array.fromAsync(glob(path.replace(/^\//, ''), { cwd: source }))))
  ).flat()
  assert.ok(found.length > 0, `COPY ${rest} finds nothing`)
  const intoFolder = to.endsWith('/') || to === '.' || found.length > 1
  for (const path of found) {
    const place = intoFolder ? join(target, basename(path)) : target
    await mkdir(dirname(place), { recursive: true })
    await cp(join(source, path), place, { recursive: true, verbatimSymlinks: true })
  }
}

/** Runs a command in the image's folder: its absolute paths and its user are not those of this machine. */
async function runIn(image: Building, command: string): Promise<void> {
  assert.equal(image.user, 'root', 'commands of a build run as root')
  const isRoot = process.getuid?.() === 0
  const adapted = command
    .replace(/(?<=\s)\/(?!dev\/)/g, `${image.root}/`)
    .replaceAll(/--(owner|group)=node/g, isRoot ? `--$1=${nodeUser}` : '')
    .replaceAll('node:node', isRoot ? `${nodeUser}:${nodeUser}` : `${process.getuid?.()}`)
  // Where npm finds its registry is a matter of this machine.
  const env = { ...process.env, ...image.environment, npm_config_prefer_offline: 'true' }
  await run('sh', ['-euc', adapted], { cwd: join(image.root, image.workdir), env })
}

/** Makes a file system read-only for the image's user, but for its volumes and /tmp. */
export async function makeReadOnly({ root, volumes }: Image): Promise<void> {
  const isRoot = process.getuid?.() === 0
  await chmod(root, 0o755)
  const writable = new Set(['/tmp', ...volumes].map((each) => join(root, each)))
  const visit = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (writable.has(path)) {
        if (isRoot) await chown(path, nodeUser, nodeUser)
      } else if (entry.isDirectory()) {
        await visit(path)
        await chmod(path, 0o555)
      }
    }
  }
  await visit(root)
  await chmod(root, 0o555)
}
