import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { check, start } from './try.ts'
import { checkPages } from './try-pages.ts'

test('the example for Next.js serves the interface beside its own pages', async (context) => {
  const folder = join(import.meta.dirname, 'next')
  const program = createRequire(import.meta.url).resolve('next/dist/bin/next')
  await promisify(execFile)(process.execPath, [program, 'build'], { cwd: folder })
  const origin = await start(context, [program, 'start', '--hostname', '127.0.0.1', '--port', '0'], folder)
  await check(origin, 'known')
  await checkPages(origin, 'framework')
})
