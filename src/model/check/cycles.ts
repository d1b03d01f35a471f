/** Circles: what refers back to itself by way of others. */

/** One step from a node to another, and the place in the declaration that says so. */
export interface Edge {
  readonly from: string
  readonly to: string
  readonly path: string
}

/** One circle for each knot of nodes that lead back to themselves: the edges in order, from the first declared. */
export function findCycles(edges: readonly Edge[]): Edge[][] {
  const leaving = Map.groupBy(edges, (edge) => edge.from)
  const done = new Set<string>()
  const reported = new Set<string>()
  const cycles: Edge[][] = []

  function visit(node: string, trail: readonly Edge[]): void {
    for (const edge of leaving.get(node) ?? []) {
      const start = trail.findIndex((step) => step.from === edge.to)
      const cycle = edge.to === node ? [edge] : start >= 0 ? [...trail.slice(start), edge] : undefined
      if (cycle !== undefined) {
        if (!cycle.some((step) => reported.has(step.from))) cycles.push(cycle)
        for (const step of cycle) reported.add(step.from)
      } else if (!done.has(edge.to)) visit(edge.to, [...trail, edge])
    }
    done.add(node)
  }

  for (const node of leaving.keys()) if (!done.has(node)) visit(node, [])
  return cycles
}
