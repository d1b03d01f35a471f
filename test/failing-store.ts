/** Makes the methods of a store fail once, so that a test can show what a failed transaction leaves behind. */
import { StorageFault } from '../packages/server/src/storage/storage.ts'

/** Which call of a store fails. */
export interface FailingCall {
  readonly method: string
  /** Which call of the method: 1 is the first. */
  readonly call: number
  /** `before`: nothing is changed. `after`: the transaction commits, and its result does not arrive. */
  readonly when: 'before' | 'after'
}

/** A store of which one call fails, as if the database had failed. `hit` says whether the call came. */
export function failingStore<Store extends object>(
  store: Store,
  failing: FailingCall,
): { store: Store; hit(): boolean } {
  let calls = 0
  const { method, call, when } = failing
  const injected = () => new StorageFault('failed', `The test lets ${method} fail ${when} its transaction.`)
  const failingMethod =
    (run: (...given: unknown[]) => Promise<unknown>) =>
    async (...given: unknown[]) => {
      const fails = ++calls === call
      if (fails && when === 'before') throw injected()
      const result = await run(...given)
      if (fails) throw injected()
      return result
    }
  const proxy = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      return name === method && typeof value === 'function' ? failingMethod(value.bind(target)) : value
    },
  })
  return { store: proxy, hit: () => calls >= call }
}
