import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

/** What of these packages is loaded once a module has run. */
function loadedBy(code: string): string[] {
  const report = `console.log(Object.keys(require('node:module')._cache).join('\\n'))`
  const script = `const { createRequire } = await import('node:module'); const require = createRequire('/'); ${code}; ${report}`
  const options = { cwd: import.meta.dirname, encoding: 'utf8' } as const
  const files = execFileSync(process.execPath, ['--input-type=module', '--eval', script], options)
  return ['prom-client', '@opentelemetry/api'].filter((name) => files.includes(`node_modules/${name}/`))
}

test('OPS-1: modules of metrics and traces are loaded only if they are used', () => {
  assert.deepEqual(loadedBy(`await import('../serve.ts')`), [])
  const both = ['prom-client', '@opentelemetry/api']
  assert.deepEqual(loadedBy(`await (await import('./metrics.ts')).collectMetrics()`), both)
})
