import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Collection } from '../interface/catalog.ts'
import { Problem, unreachable } from '../interface/problem.ts'
import type { ApiRequest, Send } from '../interface/send.ts'
import { failedFile } from './failed-file.ts'
import { type ImportRun, type ImportState, startImport } from './import-run.ts'
import { openSource } from './source.ts'

const field = { name: 'n', schema: { type: 'string' }, input: { type: 'string' }, required: true }
const collection = {
  ...{ name: 'notes', path: '/notes', fields: [field] },
  field: new Map([['n', field]]),
} as unknown as Collection

/** A server in short: it creates once for each key, and refuses what `answer` throws for. */
function server(answer: (text: string, request: ApiRequest) => void | Promise<void> = () => {}) {
  const created = new Map<string, string>()
  const send = async (request: ApiRequest) => {
    const { n } = request.body as { n: string }
    await answer(n, request)
    created.set(request.headers?.['Idempotency-Key'] ?? 'no key', n)
    request.signal?.throwIfAborted()
    return { status: 201 }
  }
  return { created, send: send as unknown as Send }
}

async function start(send: Send, text: string, name = 'notes.csv') {
  const source = await openSource(new File([text], name))
  const mapping = new Map([['n', 'n']])
  return startImport({ send, collection, source, mapping, empty: 'omit', total: undefined, onEnd: () => {} })
}

function until(run: ImportRun, status: ImportState['status']): Promise<ImportState> {
  return new Promise((resolve) => {
    const look = () => {
      if (run.state.current().status === status) resolve(run.state.current())
    }
    run.state.subscribe(look)
    look()
  })
}

const hundred = `n\n${Array.from({ length: 100 }, (_, index) => `note ${index}`).join('\n')}\n`

test('every line becomes one record, and a repeated import of the same file creates nothing', async () => {
  const { created, send } = server()
  const state = await until(await start(send, hundred), 'ended')
  assert.deepEqual([state.created, state.refused, created.size], [100, 0, 100])
  await until(await start(send, hundred), 'ended')
  assert.equal(created.size, 100)
  await until(await start(send, hundred, 'other.csv'), 'ended')
  assert.equal(created.size, 200)
})

test('equal rows on different lines are different records', async () => {
  const { created, send } = server()
  await until(await start(send, 'n\nx\nx\nx\n'), 'ended')
  assert.equal(created.size, 3)
})

test('a lost connection pauses; going on creates each record once, even if only the response was lost', async () => {
  let isLost = true
  const { created, send } = server((text, request) => {
    if (!isLost || Number(text.slice(5)) < 40) return
    // The server has created it, but nobody is told.
    created.set(request.headers?.['Idempotency-Key'] ?? '', text)
    throw unreachable()
  })
  const run = await start(send, hundred)
  const paused = await until(run, 'paused')
  assert.equal(paused.problem?.code, 'NO_RESPONSE')
  assert.equal(paused.refused, 0)
  isLost = false
  run.goOn()
  const ended = await until(run, 'ended')
  assert.deepEqual([ended.created, ended.refused, created.size], [100, 0, 100])
})

test('refused lines have their line, messages and pointers, and can be saved to be corrected', async () => {
  const refusal = { code: 'TOO_LONG', message: 'is too long', pointer: '/n' }
  const { created, send } = server((text) => {
    if (text.includes('bad')) throw new Problem(400, { errors: [refusal] })
    if (text === 'twice') throw new Problem(409, { detail: 'exists' })
  })
  const run = await start(send, 'n\ngood\n"bad, ""or"" worse"\ntwice\none,two\n')
  const state = await until(run, 'ended')
  assert.deepEqual([state.created, state.refused, created.size], [1, 3, 1])
  const failures = run.failures.toSorted((one, other) => one.record.line - other.record.line)
  assert.deepEqual(
    failures.map(({ record, errors }) => [record.line, errors.map(({ message }) => message).join()]),
    [
      [3, 'is too long'],
      [4, 'exists'],
      [5, 'The row has 2 cells, and the first row 1.'],
    ],
  )
  const [file, name] = failedFile(run.options.source, failures)
  assert.equal(name, 'notes-refused.csv')
  const wrongWidth = '"The row has 2 cells, and the first row 1.",one,two'
  const lines = ['\ufeffimport_error,n', '/n is too long,"bad, ""or"" worse"', 'exists,twice', wrongWidth, '']
  assert.deepEqual(new TextDecoder('utf-8', { ignoreBOM: true }).decode(await file.arrayBuffer()).split('\n'), lines)

  const corrected = await openSource(new File([file], name))
  assert.deepEqual(corrected.columns, ['import_error', 'n'])
  const [again] = failedFile(corrected, [{ record: corrected.sample[0] as never, errors: [{ message: 'still' }] }])
  assert.equal(await again.text(), 'import_error,n\nstill,"bad, ""or"" worse"\n')
})

test('refused records of JSON are saved as NDJSON, with what is wrong', async () => {
  const { send } = server(() => {
    throw new Problem(400, { detail: 'no' })
  })
  const run = await start(send, '[{"n":"a"},\n{"n":\n}]', 'x.json')
  await until(run, 'ended')
  const [file, name] = failedFile(
    run.options.source,
    run.failures.toSorted((one, other) => one.record.line - other.record.line),
  )
  assert.deepEqual([name, await file.text()], ['x-refused.ndjson', '{"n":"a","import_error":"no"}\n{"n": }\n'])
})

test('an import stops at once, and nothing begins after a pause', async () => {
  let begun = 0
  let aborted = 0
  const { send } = server((_, { signal }) => {
    begun += 1
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => {
        aborted += 1
        reject(signal.reason)
      })
    })
  })
  const run = await start(send, hundred)
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(begun, 4)
  run.stop()
  await until(run, 'stopped')
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.deepEqual([begun, aborted, run.state.current().status], [4, 4, 'stopped'])
})

test('many refused lines pause the import', async () => {
  const { send } = server(() => {
    throw new Problem(403, { detail: 'no' })
  })
  const run = await start(send, `n\n${'x\n'.repeat(1_500)}`)
  const { refused } = await until(run, 'paused')
  assert.ok(refused >= 1_000 && refused < 1_010, String(refused))
  run.goOn()
  assert.equal((await until(run, 'ended')).refused, 1_500)
})
