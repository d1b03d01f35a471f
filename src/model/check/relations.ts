/** Checks relations between resources: owner, parent, unique sets, and references that form a cycle. */
import { suggest } from '../nearest.ts'
import { at, item } from '../place.ts'
import { mustBe, own, type Report, show } from './problem.ts'
import { isComparable, type ResourceView } from './views.ts'

/** Checks `owner`: a field of texts that the server can set from the caller (AUT-7). */
export function checkOwner(report: Report, resource: ResourceView): void {
  const { owner, path, fields } = resource
  if (owner === undefined) return
  const place = at(path, 'owner')
  const field = typeof owner === 'string' ? fields.get(owner) : undefined
  if (field === undefined) {
    const known = [...fields.values()].filter((each) => each.shape.type === 'string').map((each) => each.name)
    const remedy = 'Declare the field, such as owner_id: { type: "string" }.'
    report(
      place,
      `is not a field of ${resource.name}: ${show(owner)}`,
      suggest(typeof owner === 'string' ? owner : '', known, remedy),
    )
    return
  }
  if (field.shape.type !== 'string' || field.shape.enum !== undefined) {
    report(place, `must be a field of texts: it holds the id of the caller`, `Write ${field.name}: { type: "string" }.`)
  } else if (field.declared.unique === true || isUniqueAlone(resource, field.name)) {
    const message = 'must not be unique by itself: each caller could create one record only'
    report(place, message, `Remove "unique" from ${field.name}, or make it unique together with another field.`)
  }
}

function isUniqueAlone({ declared }: ResourceView, name: string): boolean {
  const sets = own(declared, 'unique')
  return Array.isArray(sets) && sets.some((set) => Array.isArray(set) && set.length === 1 && set[0] === name)
}

/** Checks `within`: the reference under whose target the collection is nested too (RES-2). */
export function checkWithin(report: Report, resource: ResourceView): void {
  const within = own(resource.declared, 'within')
  if (within === undefined) return
  const path = at(resource.path, 'within')
  const field = typeof within === 'string' ? resource.fields.get(within) : undefined
  const references = [...resource.fields.values()].filter((each) => each.declared.reference !== undefined)
  const names = references.map((each) => each.name)
  if (field === undefined) {
    const remedy = suggest(typeof within === 'string' ? within : '', names, 'Name a field that is a reference.')
    report(path, `is not a field of ${resource.name}: ${show(within)}`, remedy)
  } else if (field.declared.reference === undefined) {
    const remedy = names.length > 0 ? `Name a reference: ${names.join(', ')}.` : `Write "reference" on ${field.name}.`
    report(path, `is not a reference: ${show(within)}`, remedy)
  } else if (field.shape.optional && field.declared.reference !== resource.name) {
    // A tree is nested within itself, and its root is in nothing.
    report(path, 'must be a field that always has a value', `Take "optional" from ${field.name}.`)
  }
}

/** Checks `unique`: sets of fields whose values can be compared. */
export function checkUnique(report: Report, resource: ResourceView): void {
  const sets = own(resource.declared, 'unique')
  if (sets === undefined) return
  const path = at(resource.path, 'unique')
  if (!Array.isArray(sets)) {
    report(path, mustBe('an array of sets of fields', sets), 'Write [["project_id", "title"]].')
    return
  }
  if (sets.length > 0 && sets.every((set) => typeof set === 'string')) {
    report(path, 'must be an array of sets of fields', `Write [${show(sets)}].`)
    return
  }
  sets.forEach((set: unknown, index) => {
    const place = item(path, index)
    if (!Array.isArray(set) || set.length === 0) {
      report(place, mustBe('an array of fields', set), 'Write ["project_id", "title"].')
      return
    }
    set.forEach((name: unknown, position) => {
      if (set.indexOf(name) !== position)
        report(item(place, position), `is named twice: ${show(name)}`, 'Remove one of the two.')
      else checkUniqueField(report, item(place, position), name, resource)
    })
  })
}

function checkUniqueField(report: Report, path: string, name: unknown, resource: ResourceView): void {
  const field = typeof name === 'string' ? resource.fields.get(name) : undefined
  if (field === undefined) {
    const remedy = suggest(typeof name === 'string' ? name : '', resource.fields.keys())
    report(path, `is not a field of ${resource.name}: ${show(name)}`, remedy)
  } else if (field.writeOnly) {
    report(path, 'is writeOnly: a clash would let callers find out its value', 'Use another field.')
  } else if (!isComparable(field.shape.type)) {
    report(
      path,
      `is an ${field.shape.type}: such values cannot be compared`,
      'Use a field of one text, number or truth value.',
    )
  }
}

/** The references that every record must have: in a circle of them nothing could ever be created. */
export function requiredReferences(resource: ResourceView): Edge[] {
  return [...resource.fields.values()].flatMap(({ declared, shape, path }): Edge[] =>
    typeof declared.reference === 'string' && !shape.optional
      ? [{ from: resource.name, to: declared.reference, path }]
      : [],
  )
}

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
