/**
 * Revocations under way: a request that came after one, on the same connection perhaps and before its answer, must not be
 * answered to the key that it revokes. Only those that come with that very key wait for it.
 */

/** A revocation that has begun. */
interface Revocation {
  readonly key: string
  readonly over: Promise<void>
}

/** What one server knows of its revocations. */
export class Revocations {
  readonly #begun = new Set<Revocation>()

  /**
   * Those that have begun: to be asked for before anything is awaited, so that nobody waits for one that came later.
   *
   * @returns `undefined` where there are none; else what waits until those of a key are over, and says whether there were any
   */
  ahead(): ((key: string) => Promise<boolean>) | undefined {
    if (this.#begun.size === 0) return undefined
    const begun = [...this.#begun]
    return async (key) => {
      const awaited = begun.filter((each) => each.key === key)
      await Promise.all(awaited.map(({ over }) => over))
      return awaited.length > 0
    }
  }

  /** A revocation begins, for as long as the work lasts. */
  async during<T>(key: string, work: () => Promise<T>): Promise<T> {
    let end = () => {}
    const over = new Promise<void>((resolve) => {
      end = resolve
    })
    const revocation = { key, over }
    this.#begun.add(revocation)
    try {
      return await work()
    } finally {
      this.#begun.delete(revocation)
      end()
    }
  }
}
