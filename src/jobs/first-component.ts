/** Finds a circle in a graph. */

/**
 * The strongly connected component that a depth-first search from `start` completes first (Tarjan's algorithm). No edge
 * leads out of it, so its nodes can be placed together. Memory grows with the longest path of the search.
 *
 * @param targets the nodes that edges of a node lead to
 * @returns its nodes in ascending order
 */
export function firstComponent(start: number, targets: (node: number) => readonly number[]): number[] {
  const index = new Map<number, number>()
  // Nodes before the first component is complete are all on the stack.
  const stack: number[] = []
  const path: { readonly node: number; readonly waiting: number[]; low: number }[] = []
  const enter = (node: number) => {
    index.set(node, stack.length)
    path.push({ node, waiting: [...targets(node)].reverse(), low: stack.length })
    stack.push(node)
  }
  enter(start)
  for (;;) {
    const top = path.at(-1)!
    const next = top.waiting.pop()
    if (next === undefined) {
      const own = index.get(top.node) as number
      if (top.low === own) return stack.slice(own).sort((left, right) => left - right)
      path.pop()
      const below = path.at(-1)!
      below.low = Math.min(below.low, top.low)
    } else {
      const seen = index.get(next)
      if (seen === undefined) enter(next)
      else top.low = Math.min(top.low, seen)
    }
  }
}
