/** Deletes batch after batch until one of them is empty. Returns how much. */
export async function inBatches(deleteSome: () => Promise<number>, goesOn: () => boolean): Promise<number> {
  let total = 0
  while (goesOn()) {
    const count = await deleteSome()
    if (count === 0) break
    total += count
  }
  return total
}
