/** Runs `resourced check` on a small server of another make, and reads what the server holds afterwards. */

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import type { Difference } from '../../packages/check/src/run/census.ts'
import type { CaseResult } from '../../packages/check/src/run/check.ts'
import { commandFile } from '../command-file.ts'
import { type Members, orders, type Store, type StoreMake, startStore } from './plant/store.ts'

/** The result of a check. */
export interface Ended {
  readonly code: number | null
  readonly err: string
  readonly report: {
    readonly rules: readonly {
      readonly cases: readonly Pick<CaseResult, 'id' | 'verdict' | 'level' | 'why'>[]
    }[]
    readonly created: number
    readonly remains: readonly string[]
    readonly differences: readonly Difference[]
  }
}

/** A store that is closed after its test. */
export async function storeFor(context: TestContext, make: StoreMake): Promise<Store> {
  const store = await startStore(make)
  context.after(() => store.close())
  return store
}

/** Starts the command with the address of a store. */
export function start(
  store: Pick<Store, 'origin'>,
  ...more: readonly string[]
): { readonly child: ChildProcess; readonly end: Promise<Ended> } {
  const given = [commandFile, 'check', store.origin, '--yes', '--format', 'json', ...more]
  const child = spawn(process.execPath, given, { stdio: ['ignore', 'pipe', 'pipe'] })
  const end = async () => {
    let [out, err] = ['', '']
    child.stdout?.on('data', (chunk) => (out += chunk))
    child.stderr?.on('data', (chunk) => (err += chunk))
    const [code] = await once(child, 'close')
    return { code, err, report: out === '' ? undefined : JSON.parse(out) } as Ended
  }
  return { child, end: end() }
}

/** Runs the command with the address of a store to its end. */
export const check = (store: Pick<Store, 'origin'>, ...more: readonly string[]) => start(store, ...more).end

/** The verdict on a case, with its reason. */
export function verdictOf({ report }: Ended, id: string): string {
  const found = report.rules.flatMap(({ cases }) => cases).find((each) => each.id === id)
  return `${found?.verdict}: ${found?.why}`
}

/** Records that were not in the store at the beginning. Asserts that the first ones are unchanged. */
export function strangersIn(store: Store, name = 'orders', before: readonly Members[] = orders): readonly string[] {
  const { records } = store.tables[name] as Store['tables'][string]
  for (const each of before) assert.deepEqual(records.get(String(each['id'])), each, 'nobody else loses anything')
  return [...records.keys()]
    .filter((id) => !before.some((each) => String(each['id']) === id))
    .map((id) => `/${name}/${id}`)
}

/** Asserts that the report names every record that was not there before. */
export function assertTold(store: Store, { report }: Ended): void {
  const told = [...report.remains, ...report.differences.flatMap(({ unexplained }) => unexplained)]
  assert.deepEqual(strangersIn(store).toSorted(), [...new Set(told)].toSorted())
}
