/** The size of the client in the bundle of a page, and that no code of the server is in it. */
import assert from 'node:assert/strict'
import { relative } from 'node:path'
import { it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'

const root = new URL('../../', import.meta.url)
const call = `
import { createClient } from ${JSON.stringify(new URL('packages/client/src/index.ts', root).pathname)}
const client = createClient({ url: 'https://api.example.com/v1' })
console.log(await client.tasks.list())
`

/** Bundles a module for browsers. */
async function bundleOf(text: string) {
  const entry = '\0entry.js'
  const bundling = await rolldown({
    input: entry,
    platform: 'browser',
    plugins: [
      { name: 'entry', resolveId: (id) => (id === entry ? id : null), load: (id) => (id === entry ? text : null) },
    ],
  })
  const { output } = await bundling.generate({ format: 'esm', minify: true })
  await bundling.close()
  return output[0]
}

it('a bundle with one call has at most 7 KB compressed, all of it from the folder of the client', async (context) => {
  const { code, moduleIds, imports } = await bundleOf(call)
  const bytes = gzipSync(code).length
  context.diagnostic(`${bytes} bytes`)
  assert.ok(bytes <= 7000, `${bytes} bytes`)
  assert.deepEqual(imports, [])
  const files = moduleIds.filter((id) => !id.startsWith('\0')).map((id) => relative(root.pathname, id))
  assert.ok(files.length > 5)
  assert.deepEqual(
    files.filter((file) => !/^packages\/client\/src\/[\w-]+\.ts$/.test(file)),
    [],
  )
  assert.doesNotMatch(code, /node:|process\.|Buffer|require\(/)
})

it('the functions of the client can be bundled one by one', async () => {
  const path = JSON.stringify(new URL('packages/client/src/index.ts', root).pathname)
  const { code } = await bundleOf(`import { ProblemError } from ${path}\nconsole.log(ProblemError)`)
  assert.ok(gzipSync(code).length < 1000, code)
})
